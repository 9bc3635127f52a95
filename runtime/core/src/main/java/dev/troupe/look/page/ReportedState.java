package dev.troupe.look.page;

import com.fasterxml.jackson.databind.JsonNode;
import dev.troupe.protocol.watch.LastingNotices;
import dev.troupe.protocol.watch.Notice;
import java.util.ArrayList;
import java.util.List;

/**
 * The state of a run from its events: the last event about the whole run, and the notices that are still valid. Thread rule:
 * one thread at a time.
 */
final class ReportedState {
    private String state = "waiting";
    private String sentence = "";
    private long sinceMillis;
    private long newestMillis;
    private long startedMillis;
    private long epoch;
    private LastingNotices notices = new LastingNotices();

    void add(JsonNode event) {
        String kind = event.path("event").asText();
        newestMillis = Math.max(newestMillis, event.path("time_ms").asLong());
        epoch = Math.max(epoch, event.path("epoch").asLong());
        switch (kind) {
            case "started" -> {
                startedMillis = event.path("time_ms").asLong();
                notices = new LastingNotices();
                become("training", event);
            }
            case "recovery-begins" -> become("recovering", event);
            case "recovery" -> become("training", event);
            case "failed", "stopped", "done" -> become(kind, event);
            default -> Notice.Kind.of(kind).ifPresent(notice -> notices.add(notice, numbers(event.path("stages")),
                    numbers(event.path("ranks")), event.path("sentence").asText()));
        }
    }

    private void become(String now, JsonNode event) {
        state = now;
        sinceMillis = event.path("time_ms").asLong();
        sentence = event.path("sentence").asText();
    }

    private static List<Integer> numbers(JsonNode array) {
        List<Integer> numbers = new ArrayList<>();
        array.forEach(number -> numbers.add(number.asInt()));
        return numbers;
    }

    String state() {
        return state;
    }

    /** Returns the sentence of the event that led to the state. */
    String sentence() {
        return sentence;
    }

    /** Returns the time of that event. */
    long sinceMillis() {
        return sinceMillis;
    }

    long newestMillis() {
        return newestMillis;
    }

    /** Returns the time at which the first step began, in this process or an earlier one; 0 before that. */
    long startedMillis() {
        return startedMillis;
    }

    long epoch() {
        return epoch;
    }

    /** Returns the sentences of the notices that are still valid. */
    List<String> notices() {
        return notices.sentences();
    }
}
