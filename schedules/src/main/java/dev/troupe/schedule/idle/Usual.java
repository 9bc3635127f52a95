package dev.troupe.schedule.idle;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the actions of each stage, and the messages to it, usually take: the shortest median of a step so far. A stage is
 * measured by its own best, since stages differ. Immutable.
 */
public final class Usual {
    /** Nothing is known yet: then a step is measured by its own medians. */
    public static final Usual UNKNOWN = new Usual(Map.of());

    private record Key(int stage, Kind kind) {
        static Key of(Action action) {
            return new Key(action.stage(), action.kind());
        }
    }

    private final Map<Key, Long> nanos;

    private Usual(Map<Key, Long> nanos) {
        this.nanos = nanos;
    }

    /** Returns this, where the medians of a step are shorter with those. */
    public Usual with(StepTimes step) {
        Map<Key, List<Long>> taken = new HashMap<>();
        for (RankTimes times : step.ranks()) {
            List<Action> row = step.rows().row(times.rank());
            for (int position = 0; position < row.size(); position++) {
                long one = taken(step, times, position, row.get(position));
                if (one > 0) {
                    taken.computeIfAbsent(Key.of(row.get(position)), _ -> new ArrayList<>()).add(one);
                }
            }
        }
        Map<Key, Long> best = new HashMap<>(nanos);
        taken.forEach((key, all) -> best.merge(key, median(all), Math::min));
        return new Usual(best);
    }

    /** The computing of an action, or the way of a message; 0 where it was not recorded. */
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
        return all.stream().sorted().toList().get((all.size() - 1) / 2);
    }

    /** Returns a step of the first pipeline in which every action and every message takes what it usually takes. */
    public Simulation planned(StepTimes.Rows rows) {
        return Simulator.run(rows.plan(), costs(rows.plan()));
    }

    /** Returns what the actions of each stage of a plan, and the messages between its ranks, usually take. */
    public Costs costs(Plan plan) {
        List<StageCost> stages = new ArrayList<>();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            Map<Kind, Long> wholeStep = new EnumMap<>(Kind.class);
            for (Kind kind : Kind.values()) {
                if (!kind.isPerMicrobatch() && nanos.containsKey(new Key(stage, kind))) {
                    wholeStep.put(kind, nanos.get(new Key(stage, kind)));
                }
            }
            stages.add(new StageCost(known(stage, Kind.FORWARD), known(stage, Kind.BACKWARD_INPUT),
                    known(stage, Kind.BACKWARD_WEIGHT), known(stage, Kind.FULL_BACKWARD), 0, wholeStep));
        }
        Map<List<Integer>, Long> hops = new HashMap<>();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            for (Kind receive : List.of(Kind.RECV_F, Kind.RECV_B)) {
                Key key = new Key(stage, receive);
                Action any = new Action(stage, receive, 0);
                if (nanos.containsKey(key) && plan.needsMessage(any)) {
                    hops.merge(List.of(plan.rankOf(plan.peerStage(any)), plan.rankOf(stage)), nanos.get(key),
                            Math::max);
                }
            }
        }
        return new Costs(stages,
                (from, to) -> new Hop(hops.getOrDefault(List.of(from, to), 0L), Double.POSITIVE_INFINITY));
    }

    private long known(int stage, Kind kind) {
        return nanos.getOrDefault(new Key(stage, kind), 0L);
    }

    /**
     * Returns what an action, or the message of a receive, usually takes, in nanoseconds; the longest where nothing is
     * known.
     */
    long nanos(Action action) {
        return nanos.getOrDefault(Key.of(action), Long.MAX_VALUE);
    }
}
