package dev.troupe.rank.idle;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.drawing.ChromeTrace;
import dev.troupe.schedule.drawing.ChromeTrace.Track;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Measured steps in the trace format of Chrome: a process for each rank with a thread for its actions and one for its idle
 * times, and an arrow for each message. Times count from the first step.
 */
public final class MeasuredTrace {
    private static final int ACTIONS = 0;
    private static final int IDLE = 1;

    private final ChromeTrace trace = new ChromeTrace();
    private final long origin;

    private MeasuredTrace(List<MeasuredStep> steps) {
        origin = steps.stream().mapToLong(step -> step.times().fromNanos()).min().orElse(0);
    }

    public static String of(List<MeasuredStep> steps) {
        MeasuredTrace measured = new MeasuredTrace(steps);
        Map<Integer, Set<String>> nodes = new TreeMap<>();
        steps.forEach(step -> step.times().ranks().forEach(times -> nodes
                .computeIfAbsent(times.rank(), _ -> new LinkedHashSet<>())
                .add(step.times().nodes().get(times.rank()))));
        nodes.forEach((rank, of) -> {
            measured.trace.addProcess(rank, "rank " + rank + " on " + String.join(", then ", of));
            measured.trace.addThread(new Track(rank, ACTIONS), "actions");
            measured.trace.addThread(new Track(rank, IDLE), "idle");
        });
        steps.forEach(measured::add);
        return measured.trace.document();
    }

    private void add(MeasuredStep step) {
        StepTimes times = step.times();
        for (RankTimes rank : times.ranks()) {
            List<Action> row = times.rows().row(rank.rank());
            for (int position = 0; position < row.size(); position++) {
                if (rank.ends()[position] != 0) {
                    Action action = row.get(position);
                    trace.addSlice(action.toString(), action.kind().code(), new Track(rank.rank(), ACTIONS),
                            rank.startNanos(position) - origin, rank.endNanos(position) - rank.startNanos(position),
                            ChromeTrace.arguments(action) + ",\"step\":" + step.number());
                }
            }
        }
        for (Gap gap : step.idle().gaps()) {
            long from = gap.fromNanos() - origin;
            for (IdlePart part : gap.parts()) {
                trace.addSlice(part.cause().code(), "idle", new Track(gap.rank(), IDLE), from, part.nanos(),
                        "\"rank\":" + part.rank() + (part.action() == null
                                ? ""
                                : ",\"action\":" + ChromeTrace.string(part.action().toString())));
                from += part.nanos();
            }
        }
        for (Message message : Message.all(times)) {
            int user = message.user(times);
            RankTimes sender = times.ranks().get(message.sender());
            RankTimes receiver = times.ranks().get(message.receiver());
            if (user >= 0 && receiver.ends()[user] != 0) {
                trace.addArrow(message.send().toString(), new Track(message.sender(), ACTIONS),
                        sender.startNanos(message.maker()) - origin, sender.endNanos(message.maker()) - origin,
                        new Track(message.receiver(), ACTIONS), receiver.startNanos(user) - origin,
                        "\"bytes\":" + message.bytes() + ",\"without_credit_ns\":" + message.creditNanos()
                                + ",\"wire_ns\":" + message.wireNanos());
            }
        }
    }
}
