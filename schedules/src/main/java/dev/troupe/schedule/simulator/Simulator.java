package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.PackedAction;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.PlanRows;
import dev.troupe.schedule.Resource;
import dev.troupe.schedule.StageGraph;
import dev.troupe.schedule.StageGraph.Flow;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * The simulator of a plan, which computes the start and the end of each action. A rank does one action at a time. Messages
 * travel concurrently, from the end of the action that makes a tensor to the start of the action that needs it. Updates wait
 * for the decision that follows from the gradients and norms of all stages. Pure: same plan and costs, same times.
 *
 * <p>In a plan with sends and receives a message leaves at its send, and a rank waits at a receive until the message has
 * arrived. In a plan without them, messages are where lowering would put them.
 *
 * <p>There is no event queue. The time of an action follows from the action before it in its row and from the arrival of its
 * input. Each row is walked as far as its inputs allow, and the sender of an input wakes the rank that waits for it. The
 * memory is one {@code long} for each action.
 */
public final class Simulator {
    /** Most actions of a rank in a turn, so that few tensors are in flight and stay in the cache. */
    private static final int ACTIONS_A_TURN = 64;
    private static final long NOTHING = -1;
    private static final long DECISION = -2;
    /** Less the stage, the sum of the gradients of its replicas. */
    private static final long SUM = -3;
    private static final int NONE = StageGraph.NONE;

    private final PlanRows rows;
    private final Costs costs;
    private final long[][] durations;
    private final StageGraph graph;
    private final boolean explicitMessages;
    private final Inboxes inboxes;
    private final RoundSums sums;
    private final int[] positions;
    private final long[] clocks;
    private final long[] wanted;
    private final long[][] starts;
    private final int[] ready;
    private final boolean[] isReady;
    private int firstReady;
    private int readyCount;
    private final long decisionNanos;
    /** By step, the number of gradients and norms that its decision lacks, and the time of the decision. */
    private final int[] measuresLeft;
    private final long[] decided;

    private Simulator(PlanRows rows, Costs costs, int creditsPerEdge) {
        if (costs.stages().size() != rows.stageCount()) {
            throw new IllegalArgumentException("plan \"" + rows.name() + "\" has " + rows.stageCount()
                    + " stages, but there are costs for " + costs.stages().size());
        }
        int ranks = rows.rankCount();
        this.rows = rows;
        this.costs = costs;
        this.durations = durations(costs);
        this.graph = rows.graph();
        this.explicitMessages = count(rows, Kind::isTransfer) > 0;
        this.measuresLeft = measures(rows);
        this.decided = new long[rows.stepCount()];
        this.decisionNanos = costs.decisionNanos();
        this.inboxes = new Inboxes(rows, costs, creditsPerEdge);
        this.sums = new RoundSums(rows);
        this.positions = new int[ranks];
        this.clocks = new long[ranks];
        this.wanted = new long[ranks];
        this.starts = new long[ranks][];
        this.ready = new int[ranks];
        this.isReady = new boolean[ranks];
        Arrays.fill(wanted, NOTHING);
    }

    /** Simulates a plan with unlimited credits. */
    public static Simulation run(PlanRows rows, Costs costs) {
        return new Simulator(rows, costs, 0).run();
    }

    /**
     * Simulates a plan.
     *
     * @param creditsPerEdge messages that may be unconsumed on an edge; later messages wait, and their rank continues
     * @throws PlanException if the plan deadlocks; certify it to see why
     */
    public static Simulation run(PlanRows rows, Costs costs, int creditsPerEdge) {
        if (creditsPerEdge < 1) {
            throw new PlanException("A plan needs 1 credit or more on each edge, but has " + creditsPerEdge + ".");
        }
        return new Simulator(rows, costs, creditsPerEdge).run();
    }

    private static long[][] durations(Costs costs) {
        long[][] durations = new long[Kind.values().length][costs.stages().size()];
        for (Kind kind : Kind.values()) {
            for (int stage = 0; stage < costs.stages().size(); stage++) {
                durations[kind.ordinal()][stage] = costs.stages().get(stage).nanos(kind);
            }
        }
        return durations;
    }

    private static int count(PlanRows rows, Predicate<Kind> wanted) {
        int count = 0;
        for (int rank = 0; rank < rows.rankCount(); rank++) {
            for (int position = 0; position < rows.length(rank); position++) {
                count += wanted.test(PackedAction.kind(rows.packed(rank, position))) ? 1 : 0;
            }
        }
        return count;
    }

    /** Returns for each step the number of actions on which its decision depends. */
    private static int[] measures(PlanRows rows) {
        int[] measures = new int[rows.stepCount()];
        for (int rank = 0; rank < rows.rankCount(); rank++) {
            for (int position = 0; position < rows.length(rank); position++) {
                long packed = rows.packed(rank, position);
                measures[stepOf(rows, packed)] += isMeasure(PackedAction.kind(packed)) ? 1 : 0;
            }
        }
        return measures;
    }

    /** Returns whether the decision of a step waits for actions of a kind: norms, and the gradients of weights. */
    static boolean isMeasure(Kind kind) {
        return kind == Kind.NORM || kind.freesActivation();
    }

    /** Returns whether an action waits for the decision of its step. */
    static boolean awaitsAll(PlanRows rows, long packed) {
        return PackedAction.kind(packed).resource() == Resource.DECISION && rows.updateAwaitsAll(stepOf(rows, packed));
    }

    static int stepOf(PlanRows rows, long packed) {
        return rows.stepOf(PackedAction.kind(packed), PackedAction.microbatch(packed));
    }

    private Simulation run() {
        for (int rank = 0; rank < rows.rankCount(); rank++) {
            starts[rank] = new long[rows.length(rank)];
            makeReady(rank);
        }
        while (readyCount > 0) {
            int rank = ready[firstReady];
            firstReady = (firstReady + 1) % ready.length;
            readyCount--;
            isReady[rank] = false;
            if (takeTurn(rank)) {
                makeReady(rank);
            }
        }
        for (int rank = 0; rank < rows.rankCount(); rank++) {
            if (positions[rank] < rows.length(rank)) {
                throw new PlanException("Plan \"" + rows.name() + "\" comes to no end: rank " + rank
                        + " waits for ever at "
                        + PackedAction.unpack(rows.packed(rank, positions[rank])) + ", position " + positions[rank]
                        + ". Certify the plan to see what for.");
            }
        }
        return new Simulation(rows, costs, explicitMessages, starts);
    }

    private void makeReady(int rank) {
        if (!isReady[rank]) {
            isReady[rank] = true;
            ready[(firstReady + readyCount) % ready.length] = rank;
            readyCount++;
        }
    }

    /** Walks a row for a turn; returns whether any action could be done. */
    private boolean takeTurn(int rank) {
        int end = Math.min(rows.length(rank), positions[rank] + ACTIONS_A_TURN);
        while (positions[rank] < end) {
            long packed = rows.packed(rank, positions[rank]);
            boolean moved = PackedAction.isPair(packed)
                    ? computePair(rank, packed, rows.packed(rank, positions[rank] + 1))
                    : act(rank, packed);
            if (!moved) {
                return false;
            }
        }
        return positions[rank] < rows.length(rank);
    }

    private boolean act(int rank, long packed) {
        int input = inputOf(packed);
        int microbatch = PackedAction.microbatch(packed);
        if (input >= 0 && isMissing(rank, input, microbatch)) {
            return false;
        }
        if (awaitsAll(rows, packed)) {
            int step = stepOf(rows, packed);
            if (measuresLeft[step] > 0) {
                wanted[rank] = DECISION;
                return false;
            }
            clocks[rank] = Math.max(clocks[rank], decided[step]);
        }
        if (isSum(rows, packed)) {
            int stage = PackedAction.stage(packed);
            int round = rows.updatesBefore(stage, stepOf(rows, packed));
            if (!sums.isComplete(stage, round)) {
                wanted[rank] = SUM - stage;
                return false;
            }
            clocks[rank] = Math.max(clocks[rank], sums.nanos(stage, round));
        }
        begin(rank, input, microbatch);
        long end = finish(rank, packed);
        publish(packed, end);
        return true;
    }

    /** Returns whether an action waits for the gradients of all replicas of its stage in the round. */
    static boolean isSum(PlanRows rows, long packed) {
        Kind kind = PackedAction.kind(packed);
        return (kind == Kind.REDUCE_GRAD || kind == Kind.UPDATE) && rows.replicas(PackedAction.stage(packed)) > 1;
    }

    /** Computes a pair: it begins when both inputs are present, and both outputs leave at its end. */
    private boolean computePair(int rank, long forward, long backward) {
        int forwardInput = inputOf(forward);
        int backwardInput = inputOf(backward);
        if (forwardInput >= 0 && isMissing(rank, forwardInput, PackedAction.microbatch(forward))
                || backwardInput >= 0 && isMissing(rank, backwardInput, PackedAction.microbatch(backward))) {
            return false;
        }
        if (backwardInput >= 0) {
            clocks[rank] = Math.max(clocks[rank], inboxes.of(backwardInput).arrival(PackedAction.microbatch(backward)));
        }
        begin(rank, forwardInput, PackedAction.microbatch(forward));
        finish(rank, forward);
        begin(rank, backwardInput, PackedAction.microbatch(backward));
        long end = finish(rank, backward);
        publish(forward, end);
        publish(backward, end);
        return true;
    }

    private void begin(int rank, int input, int microbatch) {
        if (input >= 0) {
            Inbox inbox = inboxes.of(input);
            clocks[rank] = Math.max(clocks[rank], inbox.arrival(microbatch));
            int released = inbox.take(microbatch, clocks[rank]);
            if (released >= 0) {
                wake(input, released);
            }
        }
        starts[rank][positions[rank]] = clocks[rank];
    }

    private long finish(int rank, long packed) {
        clocks[rank] += costs.microbatches() == Costs.Microbatches.ALIKE
                ? durations[PackedAction.kind(packed).ordinal()][PackedAction.stage(packed)]
                : costs.nanos(PackedAction.stage(packed), PackedAction.kind(packed), PackedAction.microbatch(packed));
        positions[rank]++;
        return clocks[rank];
    }

    /** Returns the inbox from which an action takes its input; -1 if it needs none. */
    private int inputOf(long packed) {
        int stage = PackedAction.stage(packed);
        int microbatch = PackedAction.microbatch(packed);
        int source = graph.source(Flow.ACTIVATIONS, stage);
        int target = graph.target(Flow.ACTIVATIONS, stage);
        return switch (PackedAction.kind(packed)) {
            case FORWARD -> isImplicit(source, stage, microbatch) ? inboxes.activations(stage, microbatch) : -1;
            case FULL_BACKWARD, BACKWARD_INPUT -> isImplicit(target, stage, microbatch)
                    ? inboxes.gradients(stage, microbatch)
                    : -1;
            case RECV_F -> inboxes.activations(stage, microbatch);
            case RECV_B -> inboxes.gradients(stage, microbatch);
            case RECV_SHARED -> graph.source(Flow.SHARED, stage) == stage
                    ? -1
                    : inboxes.shared(stage);
            default -> -1;
        };
    }

    /** Puts the output of an action, if it has one, into the inbox of the stage that needs it. */
    private void publish(long packed, long nanos) {
        int stage = PackedAction.stage(packed);
        int microbatch = PackedAction.microbatch(packed);
        int next = graph.target(Flow.ACTIVATIONS, stage);
        int previous = graph.source(Flow.ACTIVATIONS, stage);
        if (isMeasure(PackedAction.kind(packed))) {
            addMeasure(stepOf(rows, packed), nanos);
        }
        if (PackedAction.kind(packed).freesActivation() && rows.replicas(stage) > 1) {
            if (sums.add(stage, rows.updatesBefore(stage, stepOf(rows, packed)), nanos)) {
                wakeAll(SUM - stage);
            }
        }
        switch (PackedAction.kind(packed)) {
            case FORWARD -> {
                if (isImplicit(next, stage, microbatch)) {
                    deliver(inboxes.activations(next, microbatch), microbatch, nanos);
                }
            }
            case FULL_BACKWARD, BACKWARD_INPUT -> {
                if (isImplicit(previous, stage, microbatch)) {
                    deliver(inboxes.gradients(previous, microbatch), microbatch, nanos);
                }
            }
            case SEND_F -> deliver(inboxes.activations(next, microbatch), microbatch, nanos);
            case SEND_B -> deliver(inboxes.gradients(previous, microbatch), microbatch, nanos);
            case SEND_SHARED ->
                deliver(inboxes.shared(graph.target(Flow.SHARED, stage)), microbatch, nanos);
            default -> {
            }
        }
    }

    private void addMeasure(int step, long nanos) {
        decided[step] = Math.max(decided[step], nanos + decisionNanos);
        if (--measuresLeft[step] == 0) {
            wakeAll(DECISION);
        }
    }

    private void wakeAll(long there) {
        for (int rank = 0; rank < wanted.length; rank++) {
            if (wanted[rank] == there) {
                wanted[rank] = NOTHING;
                makeReady(rank);
            }
        }
    }

    /** Returns whether a tensor travels from or to an existing stage without an action in the plan. */
    private boolean isImplicit(int peer, int stage, int microbatch) {
        return peer != NONE
                && (!explicitMessages || rows.rankOf(stage, microbatch) == rows.rankOf(peer, microbatch));
    }

    private boolean isMissing(int rank, int inbox, int microbatch) {
        if (inboxes.of(inbox).arrival(microbatch) != Inbox.UNKNOWN) {
            return false;
        }
        wanted[rank] = key(inbox, microbatch);
        return true;
    }

    private void deliver(int inbox, int microbatch, long nanos) {
        inboxes.of(inbox).put(microbatch, nanos);
        wake(inbox, microbatch);
    }

    private void wake(int inbox, int microbatch) {
        int receiver = inboxes.receiver(inbox);
        if (wanted[receiver] == key(inbox, microbatch)) {
            wanted[receiver] = NOTHING;
            makeReady(receiver);
        }
    }

    private static long key(int inbox, int microbatch) {
        return (long) inbox << 32 | microbatch;
    }
}
