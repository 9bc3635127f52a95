package dev.troupe.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.fault.FaultLog;
import dev.troupe.fault.FiredFault;
import dev.troupe.machine.Recovery;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a run left in its directory.
 *
 * @param directory
 *            the run's
 * @param steps
 *            the steps in the order in which they were committed; one that was done again is there again
 * @param fired
 *            the faults that struck, in their order
 * @param recoveries
 *            how the run went on, in their order
 * @param resumed
 *            how often it ended and went on from a checkpoint
 */
public record RunRecord(Path directory, List<CommittedStep> steps, List<FiredFault> fired,
        List<Recovery> recoveries, int resumed) {
    private static final JsonMapper JSON = new JsonMapper();

    public RunRecord {
        steps = List.copyOf(steps);
        fired = List.copyOf(fired);
        recoveries = List.copyOf(recoveries);
    }

    /**
     * Reads a run that is over.
     *
     * @param metrics
     *            its file with a line for each step, among others; one that is not there has none
     * @throws UncheckedIOException
     *             where a file cannot be read
     */
    public static RunRecord read(Path directory, Path metrics) {
        try {
            List<CommittedStep> steps = Files.exists(metrics)
                    ? Files.readAllLines(metrics).stream().map(RunRecord::json).filter(line -> line.has("step"))
                            .map(RunRecord::step).toList()
                    : List.of();
            return new RunRecord(directory, steps, FaultLog.read(directory), RecoveryLog.read(directory), 0);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + metrics, failure);
        }
    }

    private static JsonNode json(String line) {
        try {
            return JSON.readTree(line);
        } catch (IOException failure) {
            throw new UncheckedIOException("no line of metrics: " + line, failure);
        }
    }

    private static CommittedStep step(JsonNode line) {
        return new CommittedStep(line.get("step").longValue(), line.get("loss").doubleValue(),
                line.get("step_seconds").doubleValue(), line.get("time_ms").longValue());
    }

    /**
     * This run after it ended and went on from a checkpoint, which counts as a recovery: detected when it had ended,
     * resumed when it began its first step again, caught up when every step was committed that was before.
     *
     * @param later
     *            what it has left since, with what stood there before
     * @param endedMillis
     *            when it had ended, on the wall clock, in milliseconds since 1970
     * @param stepsDone
     *            of the checkpoint
     */
    public RunRecord resumed(RunRecord later, long endedMillis, long stepsDone) {
        List<CommittedStep> again = later.steps.stream().filter(step -> step.committedMillis() > endedMillis).toList();
        List<CommittedStep> all = new ArrayList<>(steps);
        all.addAll(again);
        List<Recovery> went = new ArrayList<>(recoveries);
        later.recoveries.stream().filter(recovery -> !recoveries.contains(recovery)).forEach(went::add);
        if (!again.isEmpty()) {
            long reached = losses().keySet().stream().mapToLong(Long::longValue).max().orElse(0);
            CommittedStep caughtUp = again.stream().filter(step -> step.step() >= reached).findFirst()
                    .orElse(again.getLast());
            went.add(new Recovery(0, stepsDone, List.of(),
                    "the run ended, and went on from the checkpoint after " + stepsDone + " steps", endedMillis,
                    again.getFirst().startedMillis(), caughtUp.committedMillis()));
        }
        went.sort(Comparator.comparingLong(Recovery::detectedAtMillis));
        return new RunRecord(directory, all, later.fired, went, resumed + 1);
    }

    /** The loss of each step, of one that was done again as it was last. */
    public Map<Long, Double> losses() {
        Map<Long, Double> losses = new TreeMap<>();
        steps.forEach(step -> losses.put(step.step(), step.loss()));
        return losses;
    }

    /** Steps that were committed and had to be done again. */
    public int stepsLost() {
        return steps.size() - losses().size();
    }

    /** Seconds from the start of the first step to the commit of the last; 0 without steps. */
    public double seconds() {
        return steps.isEmpty()
                ? 0
                : (steps.getLast().committedMillis() - steps.getFirst().startedMillis()) / 1000.0;
    }
}
