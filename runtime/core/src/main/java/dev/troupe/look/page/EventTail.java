package dev.troupe.look.page;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/**
 * The events of a run for one listener, as server-sent events. {@code step} is sent for each committed step, and {@code
 * event} for each line of {@code events.jsonl}. {@code now} has the state of the run, and is sent when it changes and every
 * two seconds. Thread rule: one thread at a time.
 */
public final class EventTail {
    /** The number of earlier events that a new listener receives. */
    private static final int MOST_BEFORE = 200;
    private static final int MOST_AT_ONCE = 100;
    private static final long STATE_EVERY_MILLIS = 2_000;

    private final RunPage run;
    private long nextEvent;
    private long lastStep;
    private boolean hasBegun;
    private ObjectNode state;
    private long statedMillis;

    EventTail(RunPage run) {
        this.run = run;
    }

    /** Returns the events since the last call, as text of the protocol; empty if there are none. */
    public String next() {
        StringBuilder text = new StringBuilder();
        List<ObjectNode> events = run.eventsFrom(nextEvent, MOST_BEFORE);
        for (ObjectNode event : events) {
            nextEvent = event.path("id").asLong() + 1;
            add(text, "event", event);
        }
        List<ObjectNode> steps = new ArrayList<>(run.stepsAfter(hasBegun ? lastStep : -1, hasBegun ? MOST_AT_ONCE : 1));
        for (ObjectNode step : steps) {
            lastStep = step.path("step").asLong();
            hasBegun = true;
            add(text, "step", step);
        }
        ObjectNode now = run.now();
        long nowMillis = now.path("time_ms").asLong();
        ObjectNode timeless = now.deepCopy().without(List.of("time_ms", "goodput", "sentences"));
        if (!timeless.equals(state) || nowMillis - statedMillis >= STATE_EVERY_MILLIS) {
            state = timeless;
            statedMillis = nowMillis;
            add(text, "now", now);
        }
        return text.toString();
    }

    private static void add(StringBuilder text, String name, ObjectNode data) {
        text.append("event: ").append(name).append("\ndata: ").append(data).append("\n\n");
    }
}
