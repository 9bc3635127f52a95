package dev.troupe.schedule.search;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * List scheduling of a step: a free rank takes the action that its rule names first among those that it could begin, and
 * never idles if there is one. Forwards and backwards of a stage are in the order of microbatches, the backward is in two
 * halves, and a rank never exceeds its memory.
 *
 * <p>No order deadlocks: a forward begins only if the rank has room for it and for one more forward of each of its later
 * stages. So the oldest microbatch can always continue.
 *
 * <p>Source: Graham, Bounds on multiprocessing timing anomalies, 1969.
 */
final class ListScheduler {
    private static final long UNKNOWN = Long.MAX_VALUE;
    private static final int FORWARD = 0;
    private static final int INPUT = 1;
    private static final int WEIGHT = 2;
    private static final Kind[] KINDS = {Kind.FORWARD, Kind.BACKWARD_INPUT, Kind.BACKWARD_WEIGHT};

    private final Plan plan;
    private final int microbatches;
    /** By rank, its stages in the order of forwards. */
    private final int[][] own;
    /** By kind and stage. */
    private final long[][] nanos;
    /** By stage, the way of its output to the next stage, and of its gradient back; null within a rank. */
    private final Hop[] there;
    private final Hop[] back;
    private final long[] outputBytes;
    private final long[] activationBytes;
    private final long[] roomBytes;

    /** The state of a walk: by kind, stage and microbatch the time at which its input is present. */
    private final long[][][] ready;
    /** By kind and stage, the actions that are done. */
    private final int[][] done;
    private final long[] edgeThere;
    private final long[] edgeBack;
    private final long[] clocks;
    private final long[] liveBytes;
    /** By rank the earliest time at which it could begin an action. */
    private final long[] next;
    private List<List<Action>> rows = List.of();

    /**
     * The order in which a rank prefers its actions, and the memory that it uses.
     *
     * @param preferences by rank a permutation of the classes of actions: for a rank with V stages, class c is the
     * forward of its stage c, V + c the backward for the input of its stage c, and 2V + c that for the weights
     * @param roomBytes by rank the bytes of activations that it holds at most; never more than its machine has
     */
    record Rule(int[][] preferences, long[] roomBytes) {
        Rule copy() {
            return new Rule(Arrays.stream(preferences).map(int[]::clone).toArray(int[][]::new), roomBytes.clone());
        }
    }

    /** A plan with its step. */
    record Scheduled(Plan plan, long stepNanos) {
    }

    /** @param shape a candidate with the sizes, borders and machines; its rows do not count */
    ListScheduler(PlanningProblem problem, Candidate shape) {
        Costs costs = problem.costs(shape);
        this.plan = shape.plan();
        this.microbatches = plan.microbatchCount();
        int stages = plan.stageCount();
        this.nanos = new long[KINDS.length][stages];
        this.there = new Hop[stages];
        this.back = new Hop[stages];
        this.outputBytes = new long[stages];
        this.activationBytes = new long[stages];
        for (int stage = 0; stage < stages; stage++) {
            for (int kind = 0; kind < KINDS.length; kind++) {
                nanos[kind][stage] = costs.stages().get(stage).nanos(KINDS[kind]);
            }
            outputBytes[stage] = costs.stages().get(stage).outputBytes();
            activationBytes[stage] = problem.activationBytes(stage, shape.borders());
            if (stage + 1 < stages && plan.rankOf(stage, 0) != plan.rankOf(stage + 1, 0)) {
                there[stage] = costs.hops().between(plan.rankOf(stage, 0), plan.rankOf(stage + 1, 0));
                back[stage] = costs.hops().between(plan.rankOf(stage + 1, 0), plan.rankOf(stage, 0));
            }
        }
        this.own = new int[plan.rankCount()][];
        this.roomBytes = new long[own.length];
        for (int rank = 0; rank < own.length; rank++) {
            own[rank] = plan.stagesOf(rank).stream().mapToInt(Integer::intValue).toArray();
            roomBytes[rank] = problem.roomBytes(rank, shape);
        }
        this.ready = new long[KINDS.length][stages][microbatches];
        this.done = new int[KINDS.length][stages];
        this.edgeThere = new long[stages];
        this.edgeBack = new long[stages];
        this.clocks = new long[own.length];
        this.liveBytes = new long[own.length];
        this.next = new long[own.length];
    }

    /** Returns the bytes of activations for which each rank has room. */
    long[] roomBytes() {
        return roomBytes.clone();
    }

    /** Returns whether each rank has room for one activation of each of its stages, without which no step ends. */
    boolean fits(Rule rule) {
        for (int rank = 0; rank < own.length; rank++) {
            if (Arrays.stream(own[rank]).mapToLong(stage -> activationBytes[stage]).sum() > room(rank, rule)) {
                return false;
            }
        }
        return true;
    }

    private long room(int rank, Rule rule) {
        return Math.min(roomBytes[rank], rule.roomBytes()[rank]);
    }

    /** Returns the plan that a rule makes, which must {@link #fits fit}. */
    Scheduled run(Rule rule) {
        reset();
        Arrays.setAll(next, rank -> earliest(rank, rule));
        int left = KINDS.length * plan.stageCount() * microbatches;
        while (left > 0) {
            int rank = 0;
            for (int each = 1; each < own.length; each++) {
                rank = next[each] < next[rank] ? each : rank;
            }
            int chosen = preferred(rank, next[rank], rule);
            int stage = own[rank][chosen % own[rank].length];
            act(rank, chosen / own[rank].length, stage, next[rank]); // rounded down
            left--;
            // An action changes what its rank could do, and the ranks of the stages next to it.
            for (int each = Math.max(0, stage - 1); each <= Math.min(plan.lastStage(), stage + 1); each++) {
                next[plan.rankOf(each, 0)] = earliest(plan.rankOf(each, 0), rule);
            }
        }
        return new Scheduled(plan.withRows(rows), Arrays.stream(clocks).max().orElse(0));
    }

    private void reset() {
        for (long[][] ofKind : ready) {
            for (long[] ofStage : ofKind) {
                Arrays.fill(ofStage, UNKNOWN);
            }
        }
        Arrays.fill(ready[FORWARD][0], 0);
        for (int[] ofKind : done) {
            Arrays.fill(ofKind, 0);
        }
        Arrays.fill(edgeThere, 0);
        Arrays.fill(edgeBack, 0);
        Arrays.fill(clocks, 0);
        Arrays.fill(liveBytes, 0);
        rows = new ArrayList<>();
        for (int[] _ : own) {
            rows.add(new ArrayList<>());
        }
    }

    /** Returns the time at which the next action of a class could begin; {@link #UNKNOWN} if that is not known yet. */
    private long readyAt(int rank, int actionClass, Rule rule) {
        int kind = actionClass / own[rank].length; // rounded down
        int local = actionClass % own[rank].length;
        int stage = own[rank][local];
        int next = done[kind][stage];
        if (next == microbatches || kind == FORWARD && !hasRoom(rank, local, rule)) {
            return UNKNOWN;
        }
        return Math.max(clocks[rank], ready[kind][stage][next]);
    }

    private boolean hasRoom(int rank, int local, Rule rule) {
        long needed = liveBytes[rank];
        for (int later = local; later < own[rank].length; later++) {
            needed += activationBytes[own[rank][later]];
        }
        return needed <= room(rank, rule);
    }

    private long earliest(int rank, Rule rule) {
        long earliest = UNKNOWN;
        for (int actionClass = 0; actionClass < KINDS.length * own[rank].length; actionClass++) {
            earliest = Math.min(earliest, readyAt(rank, actionClass, rule));
        }
        return earliest;
    }

    private int preferred(int rank, long now, Rule rule) {
        for (int actionClass : rule.preferences()[rank]) {
            if (readyAt(rank, actionClass, rule) <= now) {
                return actionClass;
            }
        }
        throw new IllegalStateException("rank " + rank + " has nothing to do at " + now);
    }

    private void act(int rank, int kind, int stage, long now) {
        int microbatch = done[kind][stage]++;
        long end = now + nanos[kind][stage];
        clocks[rank] = end;
        rows.get(rank).add(new Action(stage, KINDS[kind], microbatch));
        int last = plan.lastStage();
        switch (kind) {
            case FORWARD -> {
                liveBytes[rank] += activationBytes[stage];
                if (stage == last) {
                    ready[INPUT][stage][microbatch] = end;
                } else {
                    ready[FORWARD][stage + 1][microbatch] = arrival(there[stage], edgeThere, stage, end);
                }
            }
            case INPUT -> {
                ready[WEIGHT][stage][microbatch] = end;
                if (stage > 0) {
                    ready[INPUT][stage - 1][microbatch] = arrival(back[stage - 1], edgeBack, stage - 1, end);
                }
            }
            default -> liveBytes[rank] -= activationBytes[stage];
        }
    }

    private long arrival(Hop hop, long[] edges, int stage, long nanos) {
        if (hop == null) {
            return nanos;
        }
        edges[stage] = Math.max(edges[stage], nanos) + hop.occupancyNanos(outputBytes[stage]);
        return edges[stage] + hop.latencyNanos();
    }
}
