package dev.troupe.schedule.drawing;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.idle.Gap;
import dev.troupe.schedule.idle.IdlePart;
import dev.troupe.schedule.idle.MeasuredStep;
import dev.troupe.schedule.idle.Message;
import dev.troupe.schedule.idle.RankTimes;
import dev.troupe.schedule.idle.StepTimes;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import dev.troupe.schedule.timeline.Transfer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Timelines in the trace format of Chrome, which ui.perfetto.dev opens: a process for each timeline, a thread for each
 * rank, a slice for each action, and an arrow from the action that sends a tensor to the one that receives it.
 */
public final class ChromeTrace {
    /** The threads of a rank that was measured. */
    private static final int ACTIONS = 0;
    private static final int IDLE = 1;

    private final List<String> events = new ArrayList<>();
    private int arrows;

    private ChromeTrace() {
    }

    private String document() {
        return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + String.join(",\n", events) + "\n]}\n";
    }

    /** Returns one JSON document with several timelines below each other. */
    public static String write(List<Timeline> timelines) {
        ChromeTrace trace = new ChromeTrace();
        for (int process = 0; process < timelines.size(); process++) {
            trace.add(timelines.get(process), process);
        }
        return trace.document();
    }

    /**
     * Returns one JSON document of measured steps: a track for each rank, a slice for each action and for each idle time,
     * and an arrow for each message. Times count from the first step.
     */
    public static String measured(List<MeasuredStep> steps) {
        ChromeTrace trace = new ChromeTrace();
        long origin = steps.stream().mapToLong(step -> step.times().fromNanos()).min().orElse(0);
        Map<Integer, Set<String>> nodes = new TreeMap<>();
        steps.forEach(step -> step.times().ranks().forEach(times -> nodes
                .computeIfAbsent(times.rank(), _ -> new LinkedHashSet<>())
                .add(step.times().nodes().get(times.rank()))));
        nodes.forEach((rank, of) -> {
            trace.addName("process_name", rank, 0, "rank " + rank + " on " + String.join(", then ", of));
            trace.addOrder("process_sort_index", rank, 0, rank);
            trace.addName("thread_name", rank, ACTIONS, "actions");
            trace.addName("thread_name", rank, IDLE, "idle");
        });
        steps.forEach(step -> trace.add(step, origin));
        return trace.document();
    }

    private void add(MeasuredStep step, long origin) {
        StepTimes times = step.times();
        for (RankTimes rank : times.ranks()) {
            List<Action> row = times.rows().row(rank.rank());
            for (int position = 0; position < row.size(); position++) {
                if (rank.ends()[position] != 0) {
                    Action action = row.get(position);
                    addSlice(action.toString(), action.kind().code(), where(rank.rank(), ACTIONS),
                            rank.startNanos(position) - origin, rank.endNanos(position) - rank.startNanos(position),
                            arguments(action) + ",\"step\":" + step.number());
                }
            }
        }
        for (Gap gap : step.idle().gaps()) {
            long from = gap.fromNanos() - origin;
            for (IdlePart part : gap.parts()) {
                addSlice(part.cause().code(), "idle", where(gap.rank(), IDLE), from, part.nanos(),
                        "\"rank\":" + part.rank()
                                + (part.action() == null ? "" : ",\"action\":" + string(part.action().toString())));
                from += part.nanos();
            }
        }
        for (Message message : Message.all(times)) {
            int user = message.user(times);
            RankTimes sender = times.ranks().get(message.sender());
            RankTimes receiver = times.ranks().get(message.receiver());
            if (user >= 0 && receiver.ends()[user] != 0) {
                addArrow(message.send().toString(), where(message.sender(), ACTIONS),
                        sender.startNanos(message.maker()) - origin, sender.endNanos(message.maker()) - origin,
                        where(message.receiver(), ACTIONS), receiver.startNanos(user) - origin,
                        "\"bytes\":" + message.bytes() + ",\"without_credit_ns\":" + message.creditNanos()
                                + ",\"wire_ns\":" + message.wireNanos());
            }
        }
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
        addSlice(action.toString(), action.kind().code(), where(process, span.rank()), span.startNanos(), span.nanos(),
                arguments(action));
    }

    private static String arguments(Action action) {
        return "\"stage\":" + action.stage()
                + (action.kind().isPerMicrobatch() ? ",\"microbatch\":" + action.microbatch() : "")
                + (action.namesVersion() ? ",\"version\":" + action.version() : "");
    }

    private void addSlice(String name, String category, String where, long startNanos, long nanos, String arguments) {
        events.add("{\"ph\":\"X\",\"name\":" + string(name) + ",\"cat\":" + string(category) + "," + where + ",\"ts\":"
                + micros(startNanos) + ",\"dur\":" + micros(nanos) + ",\"args\":{" + arguments + "}}");
    }

    private void addArrow(Transfer transfer, int process) {
        Span maker = transfer.maker();
        Span user = transfer.user();
        addArrow(maker.action() + " to " + user.action(), where(process, maker.rank()), maker.startNanos(),
                maker.endNanos(), where(process, user.rank()), user.startNanos(), "");
    }

    /** Adds an arrow. It is attached to the slice around its time, and a slice does not include its own end. */
    private void addArrow(String name, String from, long makerStarts, long makerEnds, String to, long userStarts,
            String arguments) {
        long leaves = makerEnds - Math.min(1, makerEnds - makerStarts);
        String tail = "\"cat\":\"message\",\"name\":" + string(name) + ",\"id\":" + arrows++ + ",";
        events.add("{\"ph\":\"s\"," + tail + from + ",\"ts\":" + micros(leaves)
                + (arguments.isEmpty() ? "" : ",\"args\":{" + arguments + "}") + "}");
        events.add("{\"ph\":\"f\",\"bp\":\"e\"," + tail + to + ",\"ts\":" + micros(userStarts) + "}");
    }

    private static String where(int process, int thread) {
        return "\"pid\":" + process + ",\"tid\":" + thread;
    }

    /** Returns a time in microseconds, the unit of the format, with three digits for the nanoseconds. */
    private static String micros(long nanos) {
        return BigDecimal.valueOf(nanos, 3).toPlainString();
    }

    private static String string(String text) {
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
