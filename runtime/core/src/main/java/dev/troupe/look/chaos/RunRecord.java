package dev.troupe.look.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import dev.troupe.rank.fault.FaultLog;
import dev.troupe.rank.fault.FiredFault;
import dev.troupe.rank.lines.JsonLog;
import dev.troupe.run.news.Recovery;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The record of a run in its directory.
 *
 * @param steps the committed steps, in the order of their commits; a repeated step occurs again
 * @param fired the faults that struck, in their order
 * @param recoveries the recoveries, in their order
 * @param resumed number of times that the run ended and was resumed from a checkpoint
 */
public record RunRecord(Path directory, List<CommittedStep> steps, List<FiredFault> fired,
        List<Recovery> recoveries, int resumed) {
    public RunRecord {
        steps = List.copyOf(steps);
        fired = List.copyOf(fired);
        recoveries = List.copyOf(recoveries);
    }

    /**
     * Reads a run that is over.
     *
     * @param metrics its file with a line for each step, among others; a missing file has none
     * @throws java.io.UncheckedIOException if a file cannot be read
     */
    public static RunRecord read(Path directory, Path metrics) {
        List<CommittedStep> steps = JsonLog.objects(metrics).stream().filter(line -> line.has("step"))
                .map(RunRecord::step).toList();
        return new RunRecord(directory, steps, FaultLog.read(directory), RecoveryLog.read(directory), 0);
    }

    private static CommittedStep step(JsonNode line) {
        return new CommittedStep(line.path("step").longValue(), line.path("loss").doubleValue(),
                line.path("step_seconds").doubleValue(), line.path("time_ms").longValue());
    }

    /**
     * Returns this run with its continuation from a checkpoint, which counts as a recovery. It was detected at the run's end
     * and resumed at the start of the first repeated step. It caught up when every step that was committed before was
     * committed again.
     *
     * @param later the later record, with the earlier lines
     * @param endedMillis time of the run's end on the wall clock, in milliseconds since 1970
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
                    "the run ended, and resumed from the checkpoint after " + stepsDone + " steps", endedMillis,
                    again.getFirst().startedMillis(), caughtUp.committedMillis()));
        }
        went.sort(Comparator.comparingLong(Recovery::detectedAtMillis));
        return new RunRecord(directory, all, later.fired, went, resumed + 1);
    }

    /** Returns the loss of each step; for a repeated step the last one. */
    public Map<Long, Double> losses() {
        Map<Long, Double> losses = new TreeMap<>();
        steps.forEach(step -> losses.put(step.step(), step.loss()));
        return losses;
    }

    /** Returns the number of committed steps that had to be repeated. */
    public int stepsLost() {
        return steps.size() - losses().size();
    }

    /** Returns the seconds from the start of the first step to the commit of the last; 0 without steps. */
    public double seconds() {
        return steps.isEmpty()
                ? 0
                : (steps.getLast().committedMillis() - steps.getFirst().startedMillis()) / 1000.0;
    }
}
