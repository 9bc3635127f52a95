package dev.troupe.page;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What costs the newest step the most beyond its plan: a cause, and the rank at its root.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Blame {
    /** Less of a step is not worth a sentence. */
    private static final double WORTH = 0.1;

    private record Root(String cause, int rank) {
    }

    private final StepFiles steps;
    private long step = -1;
    private List<String> sentence = List.of();

    Blame(StepFiles steps) {
        this.steps = steps;
    }

    /** Returns the sentence; none where nothing is worth one. */
    List<String> sentence() {
        long newest = steps.newest().map(StepFiles.Head::number).orElse(-1L);
        if (newest != step) {
            step = newest;
            sentence = steps.read(newest).map(Blame::of).orElse(List.of());
        }
        return sentence;
    }

    private static List<String> of(JsonNode step) {
        Map<Root, Long> nanos = new HashMap<>();
        for (JsonNode rank : step.path("ranks")) {
            for (JsonNode gap : rank.path("gaps")) {
                for (JsonNode part : gap.path("parts")) {
                    nanos.merge(new Root(part.path("cause").asText(), part.path("rank").asInt()),
                            part.path("ns").asLong(), Long::sum);
                }
            }
        }
        double whole = step.path("end_ns").asDouble() * step.path("ranks").size();
        return nanos.entrySet().stream()
                .filter(one -> !one.getKey().cause().equals("plan") && one.getValue() > WORTH * whole)
                .max(Map.Entry.comparingByValue())
                .map(one -> List.of(String.format(Locale.ROOT,
                        "In step %d the ranks waited for %.0f %% of their time because %s.",
                        step.path("step").asLong(), 100 * one.getValue() / whole, because(one.getKey()))))
                .orElse(List.of());
    }

    private static String because(Root root) {
        String rank = "rank " + root.rank();
        return switch (root.cause()) {
            case "producer" -> rank + " computed for longer than it usually does";
            case "wire" -> "a message of " + rank + " was on its way for longer than usual";
            case "credit" -> "a message of " + rank + " had no credit";
            case "control" -> rank + " began late, though it had all it needed";
            case "group" -> rank + " was late in its group";
            case "pause" -> "the process of " + rank + " paused";
            case "cpu" -> rank + " had no core";
            case "state" -> "a checkpoint was written";
            case "data" -> rank + " had not read its rows";
            case "commit" -> "the coordinator decided late";
            case "recovery" -> rank + " had been restarted";
            default -> "of something unknown at " + rank;
        };
    }
}
