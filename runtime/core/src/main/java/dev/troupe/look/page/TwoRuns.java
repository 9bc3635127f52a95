package dev.troupe.look.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.look.figure.PairedRatio;
import dev.troupe.run.http.Answer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The comparison of two runs: the times of their common steps, in pairs, and the first step in which the bits of the loss
 * differ.
 */
final class TwoRuns {
    /** Steps that are slow because code is not compiled and files are not cached yet. */
    private static final int WARM_UP_STEPS = 3;

    private final Path oneDirectory;
    private final Path otherDirectory;
    private final Map<Long, ObjectNode> one = new TreeMap<>();
    private final Map<Long, ObjectNode> other = new TreeMap<>();

    TwoRuns(Path oneDirectory, Iterable<ObjectNode> oneSteps, Path otherDirectory, Iterable<ObjectNode> otherSteps) {
        this.oneDirectory = oneDirectory;
        this.otherDirectory = otherDirectory;
        oneSteps.forEach(step -> one.put(step.path("step").asLong(), step));
        otherSteps.forEach(step -> other.put(step.path("step").asLong(), step));
    }

    /** Adds the comparison to an object; answers with the reason if the runs cannot be compared. */
    Answer answer(ObjectNode answer, JsonNode oneRun, JsonNode otherRun) {
        String here = name(oneDirectory, oneRun);
        String there = name(otherDirectory, otherRun);
        for (String field : List.of("tokens_per_step", "parameters", "engine")) {
            JsonNode ours = oneRun.path(field);
            JsonNode theirs = otherRun.path(field);
            if (!ours.equals(theirs)) {
                return Answer.unreadable("the two runs cannot be compared: " + field + " is "
                        + ours.asText("not recorded") + " in " + here + " and " + theirs.asText("not recorded") + " in "
                        + there);
            }
        }
        List<Long> both = one.keySet().stream().filter(other::containsKey).toList();
        if (both.isEmpty()) {
            return Answer.unreadable("the two runs cannot be compared: they have no step in common");
        }
        answer.putArray("runs").add(here).add(there);
        List<Double> times = new ArrayList<>();
        List<Double> otherTimes = new ArrayList<>();
        ArrayNode steps = answer.putArray("steps");
        for (long step : both) {
            if (step >= both.getFirst() + WARM_UP_STEPS) {
                times.add(seconds(one, step));
                otherTimes.add(seconds(other, step));
            }
            steps.addObject().put("step", step).put("ratio", seconds(one, step) / seconds(other, step));
        }
        answer.put("pairs", times.size());
        ArrayNode sentences = answer.putArray("sentences");
        addRatio(answer, times, otherTimes, sentences);
        addLosses(answer, both, sentences);
        return Answer.json(answer);
    }

    /** Returns a unique name: two runs of one configuration have the same name, but never the same directory. */
    private static String name(Path directory, JsonNode run) {
        return directory.toAbsolutePath().normalize().getFileName() + ": " + run.path("name").asText() + " ("
                + run.path("plan").path("name").asText() + ")";
    }

    private static double seconds(Map<Long, ObjectNode> run, long step) {
        return Math.max(1e-9, run.get(step).path("step_seconds").asDouble());
    }

    private static void addRatio(ObjectNode answer, List<Double> here, List<Double> there, ArrayNode sentences) {
        if (here.isEmpty()) {
            sentences.add("The first " + WARM_UP_STEPS + " steps do not count, and there are no others.");
            return;
        }
        PairedRatio ratio = PairedRatio.of(here, there);
        answer.putObject("ratio").put("median", ratio.median()).put("low", ratio.low()).put("high", ratio.high())
                .put("confidence", ratio.confidence());
        sentences.add(!ratio.isApart()
                ? "No difference is proven."
                : "The first is " + (ratio.median() < 1 ? "faster." : "slower."));
    }

    private void addLosses(ObjectNode answer, List<Long> both, ArrayNode sentences) {
        for (long step : both) {
            double here = one.get(step).path("loss").asDouble();
            double there = other.get(step).path("loss").asDouble();
            if (Double.doubleToRawLongBits(here) != Double.doubleToRawLongBits(there)) {
                answer.put("first_different_step", step);
                sentences.add("The losses differ from step " + step + " on: " + here + " and " + there + ".");
                return;
            }
        }
        sentences.add("The losses of all " + both.size() + " steps are the same to the bit.");
    }
}
