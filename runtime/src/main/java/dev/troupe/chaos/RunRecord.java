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
 */
public record RunRecord(Path directory, List<CommittedStep> steps, List<FiredFault> fired,
        List<Recovery> recoveries) {
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
     *            its file with a line for each step; one that is not there has none
     * @throws UncheckedIOException
     *             where a file cannot be read
     */
    public static RunRecord read(Path directory, Path metrics) {
        try {
            List<CommittedStep> steps = Files.exists(metrics)
                    ? Files.readAllLines(metrics).stream().map(RunRecord::step).toList()
                    : List.of();
            return new RunRecord(directory, steps, FaultLog.read(directory), RecoveryLog.read(directory));
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + metrics, failure);
        }
    }

    private static CommittedStep step(String line) {
        try {
            JsonNode json = JSON.readTree(line);
            return new CommittedStep(json.get("step").longValue(), json.get("loss").doubleValue(),
                    json.get("step_seconds").doubleValue(), json.get("time_ms").longValue());
        } catch (IOException failure) {
            throw new UncheckedIOException("no line of metrics: " + line, failure);
        }
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
