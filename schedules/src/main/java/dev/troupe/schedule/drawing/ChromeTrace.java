package dev.troupe.schedule.drawing;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.timeline.Transfer;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;

/**
 * Timelines in the trace format of Chrome, which ui.perfetto.dev opens: a process for each timeline, a thread for each
 * rank, a slice for each action, and an arrow from the action that sends a tensor to the one that receives it.
 */
public final class ChromeTrace {
    private final List<String> events = new ArrayList<>();
    private int arrows;

    private ChromeTrace() {
    }

    /** Returns one JSON document; several timelines are one under the other. */
    public static String write(List<Timeline> timelines) {
        ChromeTrace trace = new ChromeTrace();
        for (int process = 0; process < timelines.size(); process++) {
            trace.add(timelines.get(process), process);
        }
        return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + String.join(",\n", trace.events) + "\n]}\n";
    }

    private void add(Timeline timeline, int process) {
        addName("process_name", process, 0, timeline.title());
        addOrder("process_sort_index", process, 0, process);
        for (int rank = 0; rank < timeline.rankCount(); rank++) {
            addName("thread_name", process, rank, "rank " + rank);
            addOrder("thread_sort_index", process, rank, rank);
        }
        timeline.spans().forEach(span -> addSlice(span, process));
        timeline.transfers().forEach(transfer -> addArrow(transfer, process));
    }

    private void addName(String what, int process, int thread, String name) {
        events.add("{\"ph\":\"M\",\"name\":\"" + what + "\"," + where(process, thread) + ",\"args\":{\"name\":"
                + string(name) + "}}");
    }

    private void addOrder(String what, int process, int thread, int index) {
        events.add("{\"ph\":\"M\",\"name\":\"" + what + "\"," + where(process, thread) + ",\"args\":{\"sort_index\":"
                + index + "}}");
    }

    private void addSlice(Span span, int process) {
        Action action = span.action();
        events.add("{\"ph\":\"X\",\"name\":\"" + action + "\",\"cat\":\"" + action.kind().code() + "\","
                + where(process, span.rank()) + ",\"ts\":" + micros(span.startNanos()) + ",\"dur\":"
                + micros(span.nanos()) + ",\"args\":{\"stage\":" + action.stage()
                + (action.kind().isPerMicrobatch() ? ",\"microbatch\":" + action.microbatch() : "") + "}}");
    }

    private void addArrow(Transfer transfer, int process) {
        Span maker = transfer.maker();
        Span user = transfer.user();
        // An arrow hangs on the slice around its time, and a slice does not hold its own end.
        long leaves = maker.endNanos() - Math.min(1, maker.nanos());
        String tail = "\"cat\":\"message\",\"name\":\"" + maker.action() + " to " + user.action() + "\",\"id\":"
                + arrows++
                + ",";
        events.add("{\"ph\":\"s\"," + tail + where(process, maker.rank()) + ",\"ts\":" + micros(leaves) + "}");
        events.add("{\"ph\":\"f\",\"bp\":\"e\"," + tail + where(process, user.rank()) + ",\"ts\":"
                + micros(user.startNanos()) + "}");
    }

    private static String where(int process, int thread) {
        return "\"pid\":" + process + ",\"tid\":" + thread;
    }

    /** Returns a time in microseconds, the unit of the format; three digits behind the point are the nanoseconds. */
    private static String micros(long nanos) {
        return BigDecimal.valueOf(nanos, 3).toPlainString();
    }

    private static String string(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
