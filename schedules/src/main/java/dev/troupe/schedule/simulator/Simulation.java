package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.PackedAction;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.PlanRows;
import dev.troupe.schedule.StageGraph;
import dev.troupe.schedule.StageGraph.Flow;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongPredicate;

/** The start and the end of each action of a plan under given costs, and the measures that follow. Times begin at 0. */
public final class Simulation {
    private final PlanRows rows;
    private final StageGraph graph;
    private final Costs costs;
    private final boolean explicitMessages;
    private final long[][] starts;
    private final long[] busy;
    private final long makespan;

    Simulation(PlanRows rows, Costs costs, boolean explicitMessages, long[][] starts) {
        this.rows = rows;
        this.graph = rows.graph();
        this.costs = costs;
        this.explicitMessages = explicitMessages;
        this.starts = starts;
        this.busy = new long[rows.rankCount()];
        long last = 0;
        for (int rank = 0; rank < rows.rankCount(); rank++) {
            for (int position = 0; position < rows.length(rank); position++) {
                busy[rank] += nanos(rows.packed(rank, position));
            }
            last = Math.max(last, lastEndNanos(rank));
        }
        this.makespan = last;
    }

    private long nanos(long packed) {
        return costs.nanos(PackedAction.stage(packed), PackedAction.kind(packed), PackedAction.microbatch(packed));
    }

    public PlanRows rows() {
        return rows;
    }

    /** Returns the start of an action; for a receive, the time at which the message has arrived and the rank continues. */
    public long startNanos(int rank, int position) {
        return starts[rank][position];
    }

    public long endNanos(int rank, int position) {
        return starts[rank][position] + nanos(rows.packed(rank, position));
    }

    /** Returns the time from the start of the step to the end of the last action. */
    public long makespanNanos() {
        return makespan;
    }

    public long busyNanos(int rank) {
        return busy[rank];
    }

    public long idleNanos(int rank) {
        return makespan - busy[rank];
    }

    /** Returns the time for which a rank is idle between the start of its first action and the end of its last. */
    public long idleWithinSpanNanos(int rank) {
        return rows.length(rank) == 0 ? 0 : lastEndNanos(rank) - starts[rank][0] - busy[rank];
    }

    private long lastEndNanos(int rank) {
        int length = rows.length(rank);
        return length == 0 ? 0 : endNanos(rank, length - 1);
    }

    /** Returns the idle time of all ranks over the time that they compute: {@code (P-1)/M} for GPipe. */
    public double bubbleOverIdeal() {
        return (double) totalIdle() / totalBusy();
    }

    /** Returns the idle time of all ranks over the time of the step: {@code (P-1)/(M+P-1)} for GPipe. */
    public double bubbleOverTotal() {
        return (double) totalIdle() / (totalIdle() + totalBusy());
    }

    private long totalBusy() {
        long total = 0;
        for (long ofRank : busy) {
            total += ofRank;
        }
        return total;
    }

    private long totalIdle() {
        return makespan * rows.rankCount() - totalBusy();
    }

    /**
     * Returns the critical path of the step, first to last: each action starts when the one before has ended, or when its
     * output has arrived. A message that waits for its edge or for a credit counts as in flight.
     */
    public List<Place> criticalPath() {
        // Backwards in time, the path visits the actions of a rank in descending order, so one index for each rank is
        // enough.
        int[] fingers = new int[rows.rankCount()];
        int rank = 0;
        for (int each = 0; each < rows.rankCount(); each++) {
            fingers[each] = rows.length(each);
            rank = lastEndNanos(each) > lastEndNanos(rank) ? each : rank;
        }
        List<Place> path = new ArrayList<>();
        int position = rows.length(rank) - 1;
        while (position >= 0) {
            path.add(new Place(rank, position));
            fingers[rank] = position;
            long previousEnd = position == 0 ? 0 : endNanos(rank, position - 1);
            if (starts[rank][position] == previousEnd) {
                position--;
                continue;
            }
            Place maker = maker(rank, position, fingers);
            rank = maker.rank();
            position = maker.position();
        }
        Collections.reverse(path);
        return path;
    }

    /** Returns the action for which an action waited that did not start right after the one before it in its row. */
    private Place maker(int rank, int position, int[] fingers) {
        long packed = rows.packed(rank, position);
        if (Simulator.awaitsAll(rows, packed)) {
            return lastMeasure(Simulator.stepOf(rows, packed), fingers);
        }
        if (Simulator.isSum(rows, packed)) {
            return lastOfRound(packed, fingers);
        }
        Place maker = find(inputMaker(packed), fingers);
        if (PackedAction.isPair(packed) && !explicitMessages) {
            Place other = find(inputMaker(rows.packed(rank, position + 1)), fingers);
            boolean later = maker == null
                    || other != null
                            && endNanos(other.rank(), other.position()) > endNanos(maker.rank(), maker.position());
            maker = later ? other : maker;
        }
        return maker;
    }

    /** Returns the action that makes the input of this one, I for B; -1 if it has none. */
    private long inputMaker(long packed) {
        int stage = PackedAction.stage(packed);
        int microbatch = PackedAction.microbatch(packed);
        return switch (PackedAction.kind(packed)) {
            case FORWARD -> packed(graph.source(Flow.ACTIVATIONS, stage), Kind.FORWARD, microbatch);
            case FULL_BACKWARD, BACKWARD_INPUT ->
                packed(graph.target(Flow.ACTIVATIONS, stage), Kind.BACKWARD_INPUT, microbatch);
            case RECV_F -> packed(graph.source(Flow.ACTIVATIONS, stage), Kind.SEND_F, microbatch);
            case RECV_B -> packed(graph.target(Flow.ACTIVATIONS, stage), Kind.SEND_B, microbatch);
            case RECV_SHARED -> packed(graph.source(Flow.SHARED, stage), Kind.SEND_SHARED, microbatch);
            default -> -1;
        };
    }

    private static long packed(int stage, Kind kind, int microbatch) {
        return stage == StageGraph.NONE ? -1 : PackedAction.pack(stage, kind, microbatch);
    }

    /** Returns the norm or gradient of a step that ended last, for which its decision waited. */
    private Place lastMeasure(int step, int[] fingers) {
        return last(fingers, packed -> Simulator.isMeasure(PackedAction.kind(packed))
                && Simulator.stepOf(rows, packed) == step);
    }

    private Place last(int[] fingers, LongPredicate wanted) {
        Place last = null;
        for (int rank = 0; rank < rows.rankCount(); rank++) {
            for (int position = 0; position < fingers[rank]; position++) {
                if (wanted.test(rows.packed(rank, position))
                        && (last == null || endNanos(rank, position) >= endNanos(last.rank(), last.position()))) {
                    last = new Place(rank, position);
                }
            }
        }
        return last;
    }

    /** Returns the gradient that ended last among the replicas of a stage in a round. */
    private Place lastOfRound(long sum, int[] fingers) {
        int stage = PackedAction.stage(sum);
        int round = rows.updatesBefore(stage, Simulator.stepOf(rows, sum));
        return last(fingers,
                packed -> PackedAction.kind(packed).freesActivation() && PackedAction.stage(packed) == stage
                        && rows.updatesBefore(stage, Simulator.stepOf(rows, packed)) == round);
    }

    private Place find(long wanted, int[] fingers) {
        if (wanted < 0) {
            return null;
        }
        int rank = rows.rankOf(PackedAction.stage(wanted), PackedAction.microbatch(wanted));
        for (int position = fingers[rank] - 1; position >= 0; position--) {
            long packed = rows.packed(rank, position);
            boolean sameKind = PackedAction.kind(packed) == PackedAction.kind(wanted)
                    || PackedAction.kind(wanted) == Kind.BACKWARD_INPUT
                            && PackedAction.kind(packed) == Kind.FULL_BACKWARD;
            if (sameKind && PackedAction.stage(packed) == PackedAction.stage(wanted)
                    && PackedAction.microbatch(packed) == PackedAction.microbatch(wanted)) {
                return new Place(rank, position);
            }
        }
        throw new IllegalStateException("nothing before its user makes " + PackedAction.unpack(wanted));
    }

    /** Returns the times of the computing as a timeline to draw, for plans that fit into memory. */
    public Timeline timeline(String title) {
        List<Span> spans = new ArrayList<>();
        for (int rank = 0; rank < rows.rankCount(); rank++) {
            for (int position = 0; position < rows.length(rank); position++) {
                long packed = rows.packed(rank, position);
                if (PackedAction.kind(packed).isCompute()) {
                    spans.add(new Span(rank, rows.action(rank, position), starts[rank][position],
                            endNanos(rank, position)));
                }
            }
        }
        return new Timeline(title, rows.rankCount(), rows.stageCount(), spans);
    }
}
