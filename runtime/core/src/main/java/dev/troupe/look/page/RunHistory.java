package dev.troupe.look.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.look.output.EventsFile;
import dev.troupe.look.output.MetricsLog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The newest lines of {@code metrics.jsonl} and {@code events.jsonl} of a run, which may be in progress. Thread rule: one
 * thread at a time.
 */
final class RunHistory {
    private static final int MOST_STEPS = 10_000;
    private static final int MOST_EVENTS = 1_000;
    private static final JsonMapper JSON = new JsonMapper();

    private final LineFile metrics;
    private final LineFile events;
    private final Deque<ObjectNode> steps = new ArrayDeque<>();
    private final Deque<ObjectNode> validations = new ArrayDeque<>();
    private final Deque<ObjectNode> happened = new ArrayDeque<>();
    private ReportedState reported = new ReportedState();
    /** The number of events that were read, including those that are no longer kept. */
    private long eventCount;

    RunHistory(Path run) {
        this.metrics = new LineFile(run.resolve(MetricsLog.FILE));
        this.events = new LineFile(run.resolve(EventsFile.FILE));
    }

    /** Reads the new lines. */
    void look() {
        List<String> lines = metrics.newLines();
        if (metrics.isAnew()) {
            steps.clear();
            validations.clear();
        }
        for (String line : lines) {
            parse(line).ifPresent(json -> {
                if (json.has("loss")) {
                    add(steps, json, MOST_STEPS);
                } else if (json.has("validation_loss")) {
                    add(validations, json, MOST_STEPS);
                }
            });
        }
        List<String> more = events.newLines();
        if (events.isAnew()) {
            happened.clear();
            reported = new ReportedState();
            eventCount = 0;
        }
        for (String line : more) {
            parse(line).ifPresent(json -> {
                reported.add(json);
                add(happened, json.put("id", eventCount++), MOST_EVENTS);
            });
        }
    }

    private static void add(Deque<ObjectNode> to, ObjectNode line, int most) {
        to.addLast(line);
        if (to.size() > most) {
            to.removeFirst();
        }
    }

    private static Optional<ObjectNode> parse(String line) {
        try {
            JsonNode json = JSON.readTree(line);
            return json instanceof ObjectNode object ? Optional.of(object) : Optional.empty();
        } catch (IOException _) {
            return Optional.empty(); // not a line of this program
        }
    }

    /** Returns the lines of committed steps, oldest first. */
    Deque<ObjectNode> steps() {
        return steps;
    }

    /** Returns the lines of validation losses, oldest first. */
    List<ObjectNode> validations() {
        return List.copyOf(validations);
    }

    /** Returns the time of the newest validation; 0 before the first. */
    long validatedMillis() {
        return validations.isEmpty() ? 0 : validations.peekLast().path("time_ms").asLong();
    }

    /** Returns the events, oldest first, numbered by {@code id}. */
    Deque<ObjectNode> events() {
        return happened;
    }

    /** Returns the state after all events, including those that are no longer kept. */
    ReportedState reported() {
        return reported;
    }

    Optional<ObjectNode> lastStep() {
        return Optional.ofNullable(steps.peekLast());
    }

    /** Returns the median time of the newest steps, in seconds; NaN before the first. */
    double medianSeconds(int most) {
        List<Double> seconds = new ArrayList<>();
        for (var line = steps.descendingIterator(); line.hasNext() && seconds.size() < most;) {
            seconds.add(line.next().path("step_seconds").asDouble());
        }
        seconds.sort(Double::compare);
        return seconds.isEmpty() ? Double.NaN : seconds.get(seconds.size() / 2);
    }
}
