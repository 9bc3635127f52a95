package dev.troupe.cli.watch;

import com.fasterxml.jackson.databind.JsonNode;
import dev.troupe.rank.idle.Cause;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** One screen of a run: its state, its last step with each rank's times, and the newest events. Immutable. */
final class RunScreen {
    /** Columns of a bar: 80, minus the name of a rank and three causes. */
    private static final int BAR = 32;
    private static final int MOST_CAUSES = 3;
    private static final int MOST_RANKS = 16;
    private static final int MOST_EVENTS = 5;
    private static final char BUSY = '#';
    /** A character for each cause; a dot for idle time of the plan, which has no other cause. */
    private static final Map<Cause, Character> LETTERS = Map.ofEntries(Map.entry(Cause.PLAN, '.'),
            Map.entry(Cause.PRODUCER, 'p'), Map.entry(Cause.WIRE, 'w'), Map.entry(Cause.CREDIT, 'k'),
            Map.entry(Cause.CONTROL, 'c'), Map.entry(Cause.GROUP, 'g'), Map.entry(Cause.PAUSE, 'z'),
            Map.entry(Cause.CPU, 'u'), Map.entry(Cause.STATE, 's'), Map.entry(Cause.DATA, 'd'),
            Map.entry(Cause.COMMIT, 'm'), Map.entry(Cause.RECOVERY, 'r'), Map.entry(Cause.UNKNOWN, '?'));

    private final JsonNode run;
    private final JsonNode now;
    private final JsonNode step;
    private final List<JsonNode> events;

    /**
     * Creates a screen.
     *
     * @param run as {@code /troupe/v1/run} answers
     * @param step the newest traced step, as {@code /troupe/v1/steps/} answers; a missing node if there is none
     * @param events of the run so far, the newest last
     */
    RunScreen(JsonNode run, JsonNode step, List<JsonNode> events) {
        this.run = run;
        this.now = run.path("now");
        this.step = step;
        this.events = events;
    }

    String state() {
        return now.path("state").asText();
    }

    String line() {
        StringBuilder line = new StringBuilder(run.path("name").asText()).append(": ").append(state());
        if (now.path("epoch").asInt() > 0) {
            line.append(", epoch ").append(now.path("epoch").asInt());
        }
        line.append(String.format(Locale.ROOT, ", step %d of %d", now.path("steps_done").asLong(),
                run.path("steps").asLong()));
        if (now.has("loss")) {
            line.append(String.format(Locale.ROOT, ", loss %.4f, %,.0f tokens/s", now.path("loss").doubleValue(),
                    now.path("tokens_per_second").doubleValue()));
        }
        return line.toString();
    }

    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(line());
        lines.add(plan());
        now.path("sentences").forEach(sentence -> lines.add("! " + sentence.asText()));
        lines.add("");
        Map<Cause, Long> all = new LinkedHashMap<>();
        List<String> bars = bars(all);
        if (!bars.isEmpty()) {
            lines.add("step " + step.path("step").asLong() + ", time by cause:");
            lines.addAll(bars);
            lines.add(legend(all));
            lines.add("");
        }
        events.subList(Math.max(0, events.size() - MOST_EVENTS), events.size())
                .forEach(event -> lines.add(event(event)));
        return lines;
    }

    static String event(JsonNode event) {
        return "step " + event.path("step").asLong() + ": " + event.path("event").asText() + ": "
                + event.path("sentence").asText();
    }

    private String plan() {
        StringBuilder text = new StringBuilder("plan ").append(run.path("plan").path("name").asText());
        JsonNode traced = now.path("traced");
        if (traced.has("ns")) {
            text.append(
                    String.format(Locale.ROOT, ", last step %.3g ms, planned %.3g ms", traced.path("ns").asLong() / 1e6,
                            traced.path("planned_ns").asLong() / 1e6));
        }
        if (now.has("goodput")) {
            text.append(String.format(Locale.ROOT, ", goodput %.0f %%", 100 * now.path("goodput").doubleValue()));
        }
        return text.toString();
    }

    /** Returns the bars of the ranks with the longest idle time outside the plan, in their order. */
    private List<String> bars(Map<Cause, Long> all) {
        long length = step.path("end_ns").asLong();
        List<JsonNode> ranks = new ArrayList<>();
        step.path("ranks").forEach(ranks::add);
        List<String> bars = new ArrayList<>();
        if (length > 0) {
            ranks.forEach(rank -> idle(rank).forEach((cause, nanos) -> all.merge(cause, nanos, Long::sum)));
            ranks.stream().sorted(Comparator.comparingLong(RunScreen::waited).reversed()).limit(MOST_RANKS)
                    .sorted(Comparator.comparingInt(rank -> rank.path("rank").asInt()))
                    .forEach(rank -> bars.add(bar(rank, length)));
            if (ranks.size() > MOST_RANKS) {
                bars.add("  and " + (ranks.size() - MOST_RANKS) + " ranks that were idle less");
            }
        }
        return bars;
    }

    private static Map<Cause, Long> idle(JsonNode rank) {
        Map<Cause, Long> idle = new LinkedHashMap<>();
        for (Cause cause : Cause.values()) {
            long nanos = rank.path("idle_ns").path(cause.code()).asLong();
            if (nanos > 0) {
                idle.put(cause, nanos);
            }
        }
        return idle;
    }

    private static long waited(JsonNode rank) {
        return idle(rank).entrySet().stream().filter(entry -> entry.getKey() != Cause.PLAN)
                .mapToLong(Map.Entry::getValue).sum();
    }

    private static String bar(JsonNode rank, long length) {
        Map<Cause, Long> idle = idle(rank);
        StringBuilder cells = new StringBuilder();
        long upTo = length - idle.values().stream().mapToLong(Long::longValue).sum();
        long busy = Math.max(0, upTo);
        append(cells, BUSY, upTo, length);
        for (Map.Entry<Cause, Long> part : idle.entrySet()) {
            upTo += part.getValue();
            append(cells, LETTERS.get(part.getKey()), upTo, length);
        }
        String causes = idle.entrySet().stream().sorted(Map.Entry.<Cause, Long>comparingByValue().reversed())
                .limit(MOST_CAUSES).map(part -> percent(part.getValue(), length) + " " + part.getKey().code())
                .collect(Collectors.joining(", "));
        return String.format(Locale.ROOT, "  rank %-4d |%s| %s busy%s", rank.path("rank").asInt(), cells,
                percent(busy, length), causes.isEmpty() ? "" : ", " + causes);
    }

    /** Extends a bar up to a time, rounded to the nearest cell, so that all parts together fill the bar. */
    private static void append(StringBuilder cells, char cell, long upTo, long length) {
        int end = (int) Math.min(BAR, Math.round((double) BAR * upTo / length));
        cells.append(String.valueOf(cell).repeat(Math.max(0, end - cells.length())));
    }

    private static String percent(long nanos, long length) {
        return Math.round(100.0 * nanos / length) + " %";
    }

    private static String legend(Map<Cause, Long> all) {
        return "  " + BUSY + " busy" + all.keySet().stream().sorted()
                .map(cause -> "  " + LETTERS.get(cause) + " " + cause.code()).collect(Collectors.joining());
    }
}
