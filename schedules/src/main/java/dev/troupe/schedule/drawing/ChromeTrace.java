package dev.troupe.schedule.drawing;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import dev.troupe.schedule.timeline.Transfer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The trace format of Chrome, which ui.perfetto.dev opens: processes with threads, slices on a thread, and arrows between
 * slices. Times are in nanoseconds. One thread.
 */
public final class ChromeTrace {
    private final List<String> events = new ArrayList<>();
    private int arrows;

    /** A thread of a process in the trace. */
    public record Track(int process, int thread) {
        private String json() {
            return "\"pid\":" + process + ",\"tid\":" + thread;
        }
    }

    /**
     * Returns one JSON document with several timelines below each other: a process for each timeline, a thread for each
     * rank, a slice for each action, and an arrow from the action that sends a tensor to the one that receives it.
     */
    public static String write(List<Timeline> timelines) {
        ChromeTrace trace = new ChromeTrace();
        for (int process = 0; process < timelines.size(); process++) {
            trace.add(timelines.get(process), process);
        }
        return trace.document();
    }

    public String document() {
        return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + String.join(",\n", events) + "\n]}\n";
    }

    private void add(Timeline timeline, int process) {
        addProcess(process, timeline.title());
        for (int rank = 0; rank < timeline.rankCount(); rank++) {
            addThread(new Track(process, rank), "rank " + rank);
            addOrder("thread_sort_index", new Track(process, rank), rank);
        }
        timeline.spans().forEach(span -> addSlice(span, process));
        timeline.transfers().forEach(transfer -> addArrow(transfer, process));
    }

    /** Adds a process, sorted by its number. */
    public void addProcess(int process, String name) {
        addName("process_name", new Track(process, 0), name);
        addOrder("process_sort_index", new Track(process, 0), process);
    }

    public void addThread(Track track, String name) {
        addName("thread_name", track, name);
    }

    private void addName(String what, Track track, String name) {
        events.add("{\"ph\":\"M\",\"name\":\"" + what + "\"," + track.json() + ",\"args\":{\"name\":" + string(name)
                + "}}");
    }

    private void addOrder(String what, Track track, int index) {
        events.add("{\"ph\":\"M\",\"name\":\"" + what + "\"," + track.json() + ",\"args\":{\"sort_index\":" + index
                + "}}");
    }

    private void addSlice(Span span, int process) {
        Action action = span.action();
        addSlice(action.toString(), action.kind().code(), new Track(process, span.rank()), span.startNanos(),
                span.nanos(), arguments(action));
    }

    /** Returns the arguments of an action's slice: stage, microbatch, version. */
    public static String arguments(Action action) {
        return "\"stage\":" + action.stage()
                + (action.kind().isPerMicrobatch() ? ",\"microbatch\":" + action.microbatch() : "")
                + (action.namesVersion() ? ",\"version\":" + action.version() : "");
    }

    /**
     * Adds a slice.
     *
     * @param arguments the members of a JSON object
     */
    public void addSlice(String name, String category, Track track, long startNanos, long nanos, String arguments) {
        events.add("{\"ph\":\"X\",\"name\":" + string(name) + ",\"cat\":" + string(category) + "," + track.json()
                + ",\"ts\":"
                + micros(startNanos) + ",\"dur\":" + micros(nanos) + ",\"args\":{" + arguments + "}}");
    }

    private void addArrow(Transfer transfer, int process) {
        Span maker = transfer.maker();
        Span user = transfer.user();
        addArrow(maker.action() + " to " + user.action(), new Track(process, maker.rank()), maker.startNanos(),
                maker.endNanos(), new Track(process, user.rank()), user.startNanos(), "");
    }

    /**
     * Adds an arrow from the end of a slice to the start of another.
     *
     * @param arguments the members of a JSON object, or empty
     */
    public void addArrow(String name, Track from, long makerStarts, long makerEnds, Track to, long userStarts,
            String arguments) {
        // An arrow is attached to the slice around its time, and a slice does not include its own end.
        long leaves = makerEnds - Math.min(1, makerEnds - makerStarts);
        String tail = "\"cat\":\"message\",\"name\":" + string(name) + ",\"id\":" + arrows++ + ",";
        events.add("{\"ph\":\"s\"," + tail + from.json() + ",\"ts\":" + micros(leaves)
                + (arguments.isEmpty() ? "" : ",\"args\":{" + arguments + "}") + "}");
        events.add("{\"ph\":\"f\",\"bp\":\"e\"," + tail + to.json() + ",\"ts\":" + micros(userStarts) + "}");
    }

    /** Returns a time in microseconds, the unit of the format, with three digits for the nanoseconds. */
    private static String micros(long nanos) {
        return BigDecimal.valueOf(nanos, 3).toPlainString();
    }

    public static String string(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
