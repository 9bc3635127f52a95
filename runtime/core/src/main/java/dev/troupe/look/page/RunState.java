package dev.troupe.look.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The state of a run, with a sentence for each problem, from its files and from whether a process still writes to them.
 * Thread rule: one thread at a time.
 */
final class RunState {
    private static final JsonMapper JSON = new JsonMapper();
    /** A run is stalled if no step ends for this time, and for the time of ten steps. */
    private static final double STALLED_AFTER_SECONDS = 5;
    private static final int STEPS_OF_STALL = 10;
    private static final int RECENT_STEPS = 100;

    private final RunHistory history;
    private final StepFiles steps;

    RunState(RunHistory history, StepFiles steps) {
        this.history = history;
        this.steps = steps;
    }

    /** @param isHeld whether a process writes to the run's directory */
    ObjectNode now(boolean isHeld, long nowMillis) {
        ReportedState reported = history.reported();
        String state = reported.state();
        Optional<ObjectNode> last = history.lastStep();
        double median = history.medianSeconds(RECENT_STEPS);
        long lastMillis = last.map(step -> step.path("time_ms").asLong()).orElse(reported.startedMillis());
        long movedMillis = Math.max(reported.newestMillis(), history.validatedMillis());
        double idleSeconds = Math.max(0, nowMillis - Math.max(lastMillis, movedMillis)) / 1e3;
        boolean isOver = List.of("failed", "stopped", "done").contains(state);
        if (!isOver && !isHeld) {
            state = "lost";
        } else if (state.equals("training") && lastMillis > 0
                && idleSeconds > Math.max(STALLED_AFTER_SECONDS, STEPS_OF_STALL * (last.isEmpty() ? 6 : median))) {
            state = "stalled";
        }
        ObjectNode now = JSON.createObjectNode().put("time_ms", nowMillis).put("state", state)
                .put("epoch", reported.epoch())
                .put("steps_done", last.map(step -> step.path("step").asLong() + 1).orElse(0L));
        last.ifPresent(step -> {
            now.set("loss", step.path("loss"));
            now.set("tokens_per_second", step.path("tokens_per_second"));
            now.set("seconds", step.path("step_seconds"));
            now.put("last_step_ms", lastMillis).put("median_seconds", median);
            double goodput = goodput(reported.startedMillis(), isOver || !isHeld ? lastMillis : nowMillis, median);
            if (goodput > 0) {
                now.put("goodput", goodput);
            }
        });
        steps.newest().ifPresent(newest -> now.putObject("traced").put("step", newest.number())
                .put("ns", newest.nanos()).put("planned_ns", newest.plannedNanos()));
        List<String> sentences = sentences(state, reported, idleSeconds, median, nowMillis);
        now.put("health", sentences.isEmpty() ? "good" : isBad(state) ? "bad" : "warning");
        sentences.forEach(now.putArray("sentences")::add);
        return now;
    }

    private static boolean isBad(String state) {
        return List.of("failed", "lost", "stalled", "recovering").contains(state);
    }

    private List<String> sentences(String state, ReportedState reported, double idleSeconds, double median,
            long nowMillis) {
        return switch (state) {
            case "failed" -> List.of("The run failed: " + reported.sentence());
            case "lost" ->
                List.of("No process writes to this run any more, and none has reported why: it was killed, or its"
                        + " machine was.");
            case "recovering" -> List.of(String.format(Locale.ROOT, "The run recovers, since %.1f s: %s",
                    (nowMillis - reported.sinceMillis()) / 1e3, reported.sentence()));
            case "stalled" -> List.of(Double.isNaN(median)
                    ? String.format(Locale.ROOT, "No step is done yet, after %.0f s.", idleSeconds)
                    : String.format(Locale.ROOT,
                            "No step for %.0f s, though a step takes %.3g s: the run is stalled.",
                            idleSeconds, median));
            case "training" ->
                Stream.concat(reported.notices().stream(), steps.newest().map(Blame::of).orElse(List.of()).stream())
                        .toList();
            default -> List.of();
        };
    }

    /** Returns the goodput: the time that the steps would have taken at the median, divided by the time since the start. */
    private double goodput(long fromMillis, long toMillis, double median) {
        long since = history.steps().stream().filter(step -> step.path("time_ms").asLong() >= fromMillis).count();
        double seconds = (toMillis - fromMillis) / 1e3;
        return fromMillis == 0 || seconds <= 0 ? 0 : Math.min(1, since * median / seconds);
    }
}
