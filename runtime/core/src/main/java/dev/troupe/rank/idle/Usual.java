package dev.troupe.rank.idle;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The usual times of the actions of each stage and of the messages to it: the shortest median of a step so far. A stage is
 * compared with its own best, since stages differ, and a microbatch with others of its length. Immutable.
 */
public final class Usual {
    /** Usual times of which none is known: a step is compared with its own medians. */
    public static final Usual UNKNOWN = new Usual(Map.of());

    private record Key(int stage, Kind kind, int length) {
        static Key of(StepTimes step, int rank, Action action) {
            return new Key(action.stage(), action.kind(), step.length(rank, action));
        }
    }

    /** A simulated step of a plan with microbatches of equal length. */
    private record Planned(Plan plan, Simulation simulation) {
    }

    private final Map<Key, Long> nanos;
    /**
     * The same for every step of a run until an action becomes quicker. A thread that sees an old one simulates it again.
     */
    private Planned planned;

    private Usual(Map<Key, Long> nanos) {
        this.nanos = nanos;
    }

    /** Returns this, with the medians of a step that are shorter. */
    public Usual with(StepTimes step) {
        Map<Key, List<Long>> taken = new HashMap<>();
        for (RankTimes times : step.ranks()) {
            List<Action> row = step.rows().row(times.rank());
            for (int position = 0; position < row.size(); position++) {
                long one = taken(step, times, position, row.get(position));
                if (one > 0) {
                    taken.computeIfAbsent(Key.of(step, times.rank(), row.get(position)), _ -> new ArrayList<>())
                            .add(one);
                }
            }
        }
        Map<Key, Long> best = new HashMap<>(nanos);
        taken.forEach((key, all) -> best.merge(key, median(all), Math::min));
        return best.equals(nanos) ? this : new Usual(best);
    }

    /** The computing of an action, or the way of a message; 0 if it was not recorded. */
    private static long taken(StepTimes step, RankTimes times, int position, Action action) {
        if (action.kind().isReceive()) {
            Message message = Message.to(step, times.rank(), action);
            return message == null || message.isAgain() ? 0 : Math.max(1, message.wireNanos());
        }
        return times.did(position) ? Math.max(1, computingNanos(times, position)) : 0;
    }

    /** The time of an action in which its rank computed. */
    static long computingNanos(RankTimes times, int position) {
        return Math.max(0, times.ends()[position] - times.starts()[position] - times.groupNanos()[position]
                - times.dataNanos()[position]);
    }

    private static long median(List<Long> all) {
        Collections.sort(all);
        return all.get((all.size() - 1) / 2);
    }

    /** Returns a step of the first pipeline in which every action and every message takes its usual time. */
    public Simulation planned(StepTimes step) {
        Plan plan = step.rows().plan();
        if (step.lengths().length > 0) { // other lengths in every step
            return Simulator.run(plan, costs(step));
        }
        Planned known = planned;
        if (known == null || known.plan() != plan) {
            known = new Planned(plan, Simulator.run(plan, costs(step)));
            planned = known;
        }
        return known.simulation();
    }

    /**
     * Returns the usual times of the actions of each stage, and of the messages between ranks, in the first pipeline of a
     * step: for microbatches of unequal length the mean, with the share of each.
     */
    public Costs costs(StepTimes step) {
        Plan plan = step.rows().plan();
        List<StageCost> stages = new ArrayList<>();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            Map<Kind, Long> others = new EnumMap<>(Kind.class);
            others.put(Kind.RECOMPUTE, mean(step, stage, Kind.RECOMPUTE));
            for (Kind kind : Kind.values()) {
                if (!kind.isPerMicrobatch() && nanos.containsKey(new Key(stage, kind, 0))) {
                    others.put(kind, nanos.get(new Key(stage, kind, 0)));
                }
            }
            stages.add(new StageCost(mean(step, stage, Kind.FORWARD), mean(step, stage, Kind.BACKWARD_INPUT),
                    mean(step, stage, Kind.BACKWARD_WEIGHT), mean(step, stage, Kind.FULL_BACKWARD), 0, others));
        }
        Map<List<Integer>, Long> hops = new HashMap<>();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            for (Kind receive : List.of(Kind.RECV_F, Kind.RECV_B)) {
                long mean = mean(step, stage, receive);
                for (int microbatch = 0; microbatch < plan.stepsPerRound(); microbatch++) { // every edge of replicas
                    Action any = new Action(stage, receive, microbatch);
                    if (mean > 0 && plan.needsMessage(any)) {
                        hops.merge(List.of(plan.rankOf(plan.peer(any)), plan.rankOf(any)), mean, Math::max);
                    }
                }
            }
        }
        Costs.Hops ways = (from, to) -> new Hop(hops.getOrDefault(List.of(from, to), 0L), Double.POSITIVE_INFINITY);
        return step.lengths().length == 0
                ? new Costs(stages, ways)
                : new Costs(stages, ways, 0, (stage, kind, microbatch) -> (double) known(step,
                        new Action(stage, kind, microbatch)) / Math.max(1, stages.get(stage).nanos(kind)));
    }

    /** The usual time of an action of the first pipeline; 0 if it is not known. */
    private long known(StepTimes step, Action action) {
        return nanos.getOrDefault(Key.of(step, 0, action), 0L);
    }

    /** The mean over the microbatches of the first pipeline, rounded down. */
    private long mean(StepTimes step, int stage, Kind kind) {
        if (step.lengths().length == 0) {
            return known(step, new Action(stage, kind, 0));
        }
        long sum = 0;
        int count = step.rows().plan().microbatchCount();
        for (int microbatch = 0; microbatch < count; microbatch++) {
            sum += known(step, new Action(stage, kind, microbatch));
        }
        return sum / count;
    }

    /**
     * Returns the usual time of an action of a rank, or of the message of a receive, in nanoseconds; the longest if nothing
     * is known.
     */
    long nanos(StepTimes step, int rank, Action action) {
        return nanos.getOrDefault(Key.of(step, rank, action), Long.MAX_VALUE);
    }
}
