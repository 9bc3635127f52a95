package dev.troupe.schedule.simulator;

import java.util.Arrays;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.PackedAction;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.PlanRows;

/**
 * Finds out when each action of a plan starts and ends. A rank does one action at a time; messages travel meanwhile, from
 * the end of the action that makes a tensor to the start of the one that needs it. Pure: same plan and costs, same times.
 *
 * <p>A plan with sends and receives is taken at its word: a message leaves where its send stands, and a rank stops at a
 * receive until it has arrived. In a plan without, they are where {@link dev.troupe.schedule.Lowering} would put them.
 *
 * <p>No event queue is kept: the time of an action follows from the action before it in its row and from the arrival of
 * its input, so rows are walked as far as they go, and a rank that lacks an input is woken by whoever sends it. Memory is
 * a {@code long} an action.
 */
public final class Simulator {
    /** Actions of a rank before the next one's turn: so that what is on its way stays little, and in the cache. */
    private static final int ACTIONS_A_TURN = 64;
    private static final long NOTHING = -1;

    private final PlanRows rows;
    private final long[][] durations;
    private final boolean explicitMessages;
    private final Inbox[] inboxes;
    private final int[] positions;
    private final long[] clocks;
    private final long[] wanted;
    private final long[][] starts;
    private final int[] ready;
    private final boolean[] isReady;
    private int firstReady;
    private int readyCount;

    private Simulator(PlanRows rows, Costs costs, int creditsPerEdge) {
        if (costs.stages().size() != rows.stageCount()) {
            throw new IllegalArgumentException("plan \"" + rows.name() + "\" has " + rows.stageCount()
                    + " stages, but there are costs for " + costs.stages().size());
        }
        int ranks = rows.rankCount();
        this.rows = rows;
        this.durations = durations(costs);
        this.explicitMessages = hasMessages(rows);
        this.inboxes = inboxes(rows, costs, creditsPerEdge);
        this.positions = new int[ranks];
        this.clocks = new long[ranks];
        this.wanted = new long[ranks];
        this.starts = new long[ranks][];
        this.ready = new int[ranks];
        this.isReady = new boolean[ranks];
        Arrays.fill(wanted, NOTHING);
    }

    /** Simulates a plan in which a sender has always a credit. */
    public static Simulation run(PlanRows rows, Costs costs) {
        return new Simulator(rows, costs, 0).run(costs);
    }

    /**
     * Simulates a plan.
     *
     * @param creditsPerEdge messages that may be unconsumed on an edge; what is sent beyond waits, and its rank goes on
     * @throws PlanException if the plan comes to no end; certify it to see why
     */
    public static Simulation run(PlanRows rows, Costs costs, int creditsPerEdge) {
        if (creditsPerEdge < 1) {
            throw new PlanException("A plan needs 1 credit or more on each edge, but has " + creditsPerEdge + ".");
        }
        return new Simulator(rows, costs, creditsPerEdge).run(costs);
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

    private static boolean hasMessages(PlanRows rows) {
        for (int rank = 0; rank < rows.rankCount(); rank++) {
            for (int position = 0; position < rows.length(rank); position++) {
                if (PackedAction.kind(rows.packed(rank, position)).isMessage()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Two for each stage: activations from the stage before, then gradients from the next one. */
    private static Inbox[] inboxes(PlanRows rows, Costs costs, int creditsPerEdge) {
        Inbox[] inboxes = new Inbox[2 * rows.stageCount()];
        for (int stage = 0; stage < rows.stageCount(); stage++) {
            inboxes[2 * stage] = inbox(rows, costs, stage - 1, stage, creditsPerEdge);
            inboxes[2 * stage + 1] = inbox(rows, costs, stage + 1, stage, creditsPerEdge);
        }
        return inboxes;
    }

    private static Inbox inbox(PlanRows rows, Costs costs, int fromStage, int toStage, int creditsPerEdge) {
        boolean exists = fromStage >= 0 && fromStage < rows.stageCount();
        if (!exists || rows.rankOf(fromStage) == rows.rankOf(toStage)) {
            return new Inbox(0, 0, 0); // handed over within the rank, if at all
        }
        Hop hop = costs.hops().between(rows.rankOf(fromStage), rows.rankOf(toStage));
        long bytes = costs.stages().get(Math.min(fromStage, toStage)).outputBytes();
        return new Inbox(hop.occupancyNanos(bytes), hop.latencyNanos(), creditsPerEdge);
    }

    private Simulation run(Costs costs) {
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

    /** Walks a row for a while; whether it could go on. */
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
        begin(rank, input, microbatch);
        long end = finish(rank, packed);
        publish(packed, end);
        return true;
    }

    /** Both inputs are there before a pair begins, and both outputs leave when it has ended. */
    private boolean computePair(int rank, long forward, long backward) {
        int forwardInput = inputOf(forward);
        int backwardInput = inputOf(backward);
        if (forwardInput >= 0 && isMissing(rank, forwardInput, PackedAction.microbatch(forward))
                || backwardInput >= 0 && isMissing(rank, backwardInput, PackedAction.microbatch(backward))) {
            return false;
        }
        if (backwardInput >= 0) {
            clocks[rank] = Math.max(clocks[rank], inboxes[backwardInput].arrival(PackedAction.microbatch(backward)));
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
            Inbox inbox = inboxes[input];
            clocks[rank] = Math.max(clocks[rank], inbox.arrival(microbatch));
            int released = inbox.take(microbatch, clocks[rank]);
            if (released >= 0) {
                wake(input, released);
            }
        }
        starts[rank][positions[rank]] = clocks[rank];
    }

    private long finish(int rank, long packed) {
        clocks[rank] += durations[PackedAction.kind(packed).ordinal()][PackedAction.stage(packed)];
        positions[rank]++;
        return clocks[rank];
    }

    /** The inbox that an action takes its input from; -1 if it needs none. */
    private int inputOf(long packed) {
        int stage = PackedAction.stage(packed);
        return switch (PackedAction.kind(packed)) {
            case FORWARD -> stage > 0 && isImplicit(stage, stage - 1) ? 2 * stage : -1;
            case FULL_BACKWARD, BACKWARD_INPUT -> stage < rows.stageCount() - 1 && isImplicit(stage, stage + 1)
                    ? 2 * stage + 1
                    : -1;
            case RECV_F -> 2 * stage;
            case RECV_B -> 2 * stage + 1;
            case BACKWARD_WEIGHT, SEND_F, SEND_B -> -1;
        };
    }

    /** Puts the output of an action, if it has one, into the inbox of the stage that needs it. */
    private void publish(long packed, long nanos) {
        int stage = PackedAction.stage(packed);
        switch (PackedAction.kind(packed)) {
            case FORWARD -> {
                if (stage < rows.stageCount() - 1 && isImplicit(stage, stage + 1)) {
                    deliver(2 * (stage + 1), PackedAction.microbatch(packed), nanos);
                }
            }
            case FULL_BACKWARD, BACKWARD_INPUT -> {
                if (stage > 0 && isImplicit(stage, stage - 1)) {
                    deliver(2 * (stage - 1) + 1, PackedAction.microbatch(packed), nanos);
                }
            }
            case SEND_F -> deliver(2 * (stage + 1), PackedAction.microbatch(packed), nanos);
            case SEND_B -> deliver(2 * (stage - 1) + 1, PackedAction.microbatch(packed), nanos);
            case BACKWARD_WEIGHT, RECV_F, RECV_B -> {
            }
        }
    }

    /** Whether a tensor goes from one stage to the other without an action of its own. */
    private boolean isImplicit(int stage, int peer) {
        return !explicitMessages || rows.rankOf(stage) == rows.rankOf(peer);
    }

    private boolean isMissing(int rank, int inbox, int microbatch) {
        if (inboxes[inbox].arrival(microbatch) != Inbox.UNKNOWN) {
            return false;
        }
        wanted[rank] = key(inbox, microbatch);
        return true;
    }

    private void deliver(int inbox, int microbatch, long nanos) {
        inboxes[inbox].put(microbatch, nanos);
        wake(inbox, microbatch);
    }

    private void wake(int inbox, int microbatch) {
        int receiver = rows.rankOf(inbox / 2); // rounded down: two inboxes a stage
        if (wanted[receiver] == key(inbox, microbatch)) {
            wanted[receiver] = NOTHING;
            makeReady(receiver);
        }
    }

    private static long key(int inbox, int microbatch) {
        return (long) inbox << 32 | microbatch;
    }
}
