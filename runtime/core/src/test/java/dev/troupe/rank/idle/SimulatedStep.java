package dev.troupe.rank.idle;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A step that is recorded like ranks record it, with its disturbances: every action takes its time and begins when its rank
 * is free and its message has landed, and every update when the coordinator has decided.
 */
final class SimulatedStep {
    static final long CONTROL = 20;
    static final long WIRE = 300;
    static final long DECISION = 150;
    static final int LONGEST = 64;

    private final StepTimes.Rows rows;
    private final int world;
    private final long beginNanos;
    private final Map<String, Long> more = new HashMap<>();
    private int[] lengths = {};

    SimulatedStep(Plan plan, long beginNanos) {
        this.rows = StepTimes.Rows.of(plan, 1, 1);
        this.world = plan.rankCount();
        this.beginNanos = beginNanos;
    }

    /** Adds time to an action of a rank: {@code compute}, {@code wire}, {@code credit}, {@code data}, {@code late}. */
    SimulatedStep with(String what, int rank, Action action, long nanos) {
        more.merge(what + rank + action, nanos, Long::sum);
        return this;
    }

    /** Gives each microbatch a length of its own, of {@value #LONGEST}; 0 for that. */
    SimulatedStep ofLengths(int... each) {
        lengths = each;
        return this;
    }

    private long more(String what, int rank, Action action) {
        return more.getOrDefault(what + rank + action, 0L);
    }

    /** Returns the computing time of an action of a kind; later stages take longer. */
    private long cost(Action action) {
        long base = switch (action.kind()) {
            case FORWARD -> 1_000;
            case FULL_BACKWARD -> 2_000;
            case BACKWARD_INPUT, BACKWARD_WEIGHT -> 1_000;
            default -> 100;
        };
        int length = lengths.length == 0 || !action.kind().isPerMicrobatch() ? 0 : lengths[action.microbatch()];
        return (base + 50L * action.stage()) * (length == 0 ? LONGEST : length) / LONGEST;
    }

    StepTimes run() {
        List<RankTimes> ranks = new ArrayList<>();
        for (int rank = 0; rank < world; rank++) {
            int length = rows.row(rank).size();
            ranks.add(new RankTimes(rank, 0, beginNanos, new long[length], new long[length], new long[length],
                    new long[length], new long[length], new long[length], new long[length], new long[length],
                    List.of()));
        }
        int[] at = new int[world];
        long[] free = new long[world];
        Arrays.fill(free, CONTROL);
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int rank = 0; rank < world; rank++) {
                while (at[rank] < rows.row(rank).size() && advance(ranks, rank, at, free)) {
                    moved = true;
                }
            }
        }
        return new StepTimes(1, rows, ranks, Collections.nCopies(world, "node-0"), lengths, 0, Cause.COMMIT);
    }

    private boolean advance(List<RankTimes> ranks, int rank, int[] at, long[] free) {
        Action action = rows.row(rank).get(at[rank]);
        RankTimes times = ranks.get(rank);
        int position = at[rank];
        if (action.kind().isReceive()) { // its landing is known when it was sent
            at[rank]++;
            return true;
        }
        if (action.kind().isSend()) {
            times.moved()[position] = free[rank];
            times.creditNanos()[position] = more("credit", rank, action);
            at[rank]++;
            return true;
        }
        long ready = free[rank];
        if (action.kind() == Kind.FORWARD || action.kind().makesInputGradient()) {
            Action receive = action.as(action.kind() == Kind.FORWARD ? Kind.RECV_F : Kind.RECV_B);
            if (rows.position(receive) >= 0) {
                Action send = rows.plan().peer(receive);
                int sender = rows.inPipelineOf(rank, rows.plan().rankOf(send));
                long sent = ranks.get(sender).moved()[rows.position(send)];
                if (sent == 0) {
                    return false;
                }
                long landed = sent + more("credit", sender, send) + WIRE + more("wire", sender, send);
                times.moved()[rows.position(receive)] = landed;
                ready = Math.max(ready, landed + CONTROL);
            }
        }
        if (action.kind() == Kind.UPDATE) {
            long decided = DECISION;
            for (RankTimes other : ranks) {
                int norm = lastNorm(other.rank());
                if (other.ends()[norm] == 0) {
                    return false;
                }
                decided = Math.max(decided, other.ends()[norm] + DECISION + more("decision", 0, null));
            }
            ready = Math.max(ready, decided);
        }
        ready += more("late", rank, action);
        long data = more("data", rank, action);
        times.starts()[position] = ready;
        times.dataNanos()[position] = data;
        times.ends()[position] = ready + data + cost(action) + more("compute", rank, action);
        free[rank] = times.ends()[position];
        at[rank]++;
        return true;
    }

    private int lastNorm(int rank) {
        List<Action> row = rows.row(rank);
        int last = 0;
        for (int position = 0; position < row.size(); position++) {
            last = row.get(position).kind() == Kind.NORM ? position : last;
        }
        return last;
    }
}
