package dev.troupe.page;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the events of a run say: the last thing that befell it as a whole, and what still holds of its speed.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Told {
    private String state = "waiting";
    private String sentence = "";
    private long sinceMillis;
    private long heardMillis;
    private long startedMillis;
    private long epoch;
    private final Map<String, String> lasting = new LinkedHashMap<>();

    void hear(JsonNode event) {
        String kind = event.path("event").asText();
        heardMillis = Math.max(heardMillis, event.path("time_ms").asLong());
        epoch = Math.max(epoch, event.path("epoch").asLong());
        switch (kind) {
            case "started" -> {
                startedMillis = event.path("time_ms").asLong();
                lasting.clear();
                become("training", event);
            }
            case "recovery-begins" -> become("recovering", event);
            case "recovery" -> become("training", event);
            case "failed", "stopped", "done" -> become(kind, event);
            case "straggler", "straggler-changed" -> lasting.put(stages(event), sentence(event));
            case "straggler-ended" -> lasting.remove(stages(event));
            case "all-slower", "pace" -> lasting.put(kind, sentence(event));
            case "all-slower-ended", "pace-ended" -> lasting.remove(kind.replace("-ended", ""));
            default -> {
                // it has happened, and is over
            }
        }
    }

    private void become(String now, JsonNode event) {
        state = now;
        sinceMillis = event.path("time_ms").asLong();
        sentence = sentence(event);
    }

    private static String stages(JsonNode event) {
        return "" + event.path("stages") + event.path("ranks");
    }

    private static String sentence(JsonNode event) {
        return event.path("sentence").asText();
    }

    /** The state of the run as a whole. */
    String state() {
        return state;
    }

    /** The sentence of the event that led to the state. */
    String sentence() {
        return sentence;
    }

    /** The time of that event. */
    long sinceMillis() {
        return sinceMillis;
    }

    /** The time of the newest event. */
    long heardMillis() {
        return heardMillis;
    }

    /** The time at which the first step began, here or in the process before; 0 before that. */
    long startedMillis() {
        return startedMillis;
    }

    long epoch() {
        return epoch;
    }

    /** The sentences on the speed of the run that still hold. */
    Collection<String> lasting() {
        return lasting.values();
    }
}
