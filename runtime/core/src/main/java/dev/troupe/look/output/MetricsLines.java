package dev.troupe.look.output;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.rank.lines.JsonLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The lines of a {@code metrics.jsonl} that can be read and do not contradict each other.
 *
 * <p>Steps rise from line to line, by one unless a line was lost. A line with any other step is damaged: with such a step a
 * new coordinator would wait for a node without end.
 *
 * @param lines in their order
 * @param damaged the other lines, in their order
 */
record MetricsLines(List<Entry> lines, List<JsonLog.Damaged> damaged) {
    /**
     * A line; a missing number is NaN.
     *
     * @param step negative if the line is not of a step
     */
    record Entry(int number, String text, long step, long stepsDone, double loss, double validationLoss,
            double stepSeconds) {
        boolean isOfStep() {
            return step >= 0;
        }
    }

    /** Reads a file; a missing file has no lines. */
    static MetricsLines read(Path file) throws IOException {
        List<Entry> read = new ArrayList<>();
        List<JsonLog.Damaged> damaged = new ArrayList<>(JsonLog.read(file, line -> {
            Entry entry = entry(line);
            return entry != null && read.add(entry);
        }));
        Set<Entry> rising = rising(read.stream().filter(Entry::isOfStep).toList());
        long stepsDone = rising.stream().mapToLong(Entry::stepsDone).max().orElse(Long.MAX_VALUE);
        List<Entry> lines = new ArrayList<>();
        for (Entry entry : read) {
            if (entry.isOfStep() ? rising.contains(entry) : entry.stepsDone() <= stepsDone) {
                lines.add(entry);
            } else {
                damaged.add(JsonLog.Damaged.of(entry.number(), entry.text()));
            }
        }
        damaged.sort(Comparator.comparingInt(JsonLog.Damaged::number));
        return new MetricsLines(lines, damaged);
    }

    /** Parses a line; null if it is not a line of metrics. */
    private static Entry entry(JsonLog.Line line) {
        ObjectNode json = line.json();
        String count = json.has("step") ? "step" : "steps_done";
        boolean isOfStep = json.has("loss") && json.has("step");
        boolean isWhole = isOfStep || json.has("validation_loss") || json.has("checkpoint_failed");
        long number = json.path(count).isIntegralNumber() ? json.path(count).longValue() : -1;
        return isWhole && number >= 0
                ? new Entry(line.number(), line.text(), isOfStep ? number : -1, isOfStep ? number + 1 : number,
                        json.path("loss").asDouble(Double.NaN), json.path("validation_loss").asDouble(Double.NaN),
                        json.path("step_seconds").asDouble(Double.NaN))
                : null;
    }

    /** Returns the longest rising sequence of steps, without its last step if that skips some. */
    private static Set<Entry> rising(List<Entry> steps) {
        int[] before = new int[steps.size()]; // the index of the step before, in the longest rise that ends with a step
        int[] ends = new int[steps.size()]; // by length less 1: the index of the lowest step that ends such a rise
        int length = 0;
        for (int i = 0; i < before.length; i++) {
            long step = steps.get(i).step();
            int low = 0;
            for (int high = length; low < high;) {
                int middle = (low + high) >>> 1;
                if (steps.get(ends[middle]).step() < step) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            before[i] = low == 0 ? -1 : ends[low - 1];
            if (low == length || steps.get(ends[low]).step() > step) { // of equal ones the first
                ends[low] = i;
                length = Math.max(length, low + 1);
            }
        }
        int[] rise = new int[length];
        for (int i = length - 1, at = length == 0 ? -1 : ends[length - 1]; i >= 0; i--, at = before[at]) {
            rise[i] = at;
        }
        boolean jumps = length > 1 && rise[length - 1] == rise[length - 2] + 1
                && steps.get(rise[length - 1]).number() == steps.get(rise[length - 2]).number() + 1
                && steps.get(rise[length - 1]).step() > steps.get(rise[length - 2]).step() + 1;
        Set<Entry> rising = new HashSet<>();
        Arrays.stream(rise).limit(jumps ? length - 1 : length).mapToObj(steps::get).forEach(rising::add);
        return rising;
    }
}
