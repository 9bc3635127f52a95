package dev.troupe.schedule.simulator;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;

/** The costs of a measured step, to simulate its plan, or other plans of the same model on the same machine. */
public final class MeasuredCosts {
    private MeasuredCosts() {
    }

    /**
     * Returns the median of each stage and kind, since some actions of every step are delayed. Where the measured plan
     * had only B, half of it is taken for I and half for W; where it had only I and W, their sum is taken for B.
     *
     * @param measured one step, or several with their spans in one timeline
     * @param outputBytes for each stage, the size of the activation that it sends
     * @param hops the hop between any two ranks, which spans do not show
     * @throws IllegalArgumentException if a stage has no forward or no backward in the timeline
     */
    public static Costs of(Timeline measured, IntToLongFunction outputBytes, Costs.Hops hops) {
        Map<Integer, Map<Kind, List<Long>>> durations = durations(measured);
        List<StageCost> stages = new ArrayList<>();
        for (int stage = 0; stage < measured.stageCount(); stage++) {
            stages.add(stageCost(stage, durations.getOrDefault(stage, Map.of()), outputBytes.applyAsLong(stage)));
        }
        return new Costs(stages, hops);
    }

    private static Map<Integer, Map<Kind, List<Long>>> durations(Timeline measured) {
        Map<Integer, Map<Kind, List<Long>>> durations = new TreeMap<>();
        for (Span span : measured.spans()) {
            durations.computeIfAbsent(span.action().stage(), unused -> new EnumMap<>(Kind.class))
                    .computeIfAbsent(span.action().kind(), unused -> new ArrayList<>()).add(span.nanos());
        }
        return durations;
    }

    /**
     * Returns the shares of a step's microbatches: each takes in a stage the time of one that is drawn of the step,
     * without repetition. Since a rank waits for the later of two, a step of spread times takes longer than one in which
     * every action takes its mean.
     *
     * @param step one measured step
     * @param stages the costs of which the shares are told
     * @param moreNanos what {@code stages} has for each action beside its measured time
     * @param drawn decides which microbatch takes what
     */
    public static Costs.Microbatches spread(Timeline step, List<StageCost> stages, long moreNanos, Random drawn) {
        Map<Integer, Map<Kind, List<Long>>> left = durations(step);
        left.values().forEach(kinds -> kinds.values().forEach(durations -> Collections.shuffle(durations, drawn)));
        Map<Action, Double> shares = new HashMap<>();
        for (Span span : step.spans()) {
            int stage = span.action().stage();
            Kind kind = span.action().kind();
            if (stages.get(stage).nanos(kind) > 0) {
                shares.put(new Action(stage, kind, span.action().microbatch()),
                        (double) (left.get(stage).get(kind).removeLast() + moreNanos) / stages.get(stage).nanos(kind));
            }
        }
        return (stage, kind, microbatch) -> shares.getOrDefault(new Action(stage, kind, microbatch), 1.0);
    }

    private static StageCost stageCost(int stage, Map<Kind, List<Long>> durations, long outputBytes) {
        boolean whole = durations.containsKey(Kind.FULL_BACKWARD);
        boolean halves = durations.containsKey(Kind.BACKWARD_INPUT) && durations.containsKey(Kind.BACKWARD_WEIGHT);
        if (!durations.containsKey(Kind.FORWARD) || !whole && !halves) {
            throw new IllegalArgumentException(
                    "stage " + stage + " needs an F and a B, or an I and a W, to have its costs "
                            + "read off, but was measured with "
                            + durations.keySet().stream().map(Kind::code).sorted().toList());
        }
        long input = halves ? median(durations.get(Kind.BACKWARD_INPUT)) : 0;
        long weight = halves ? median(durations.get(Kind.BACKWARD_WEIGHT)) : 0;
        long full = whole ? median(durations.get(Kind.FULL_BACKWARD)) : input + weight;
        Map<Kind, Long> others = new EnumMap<>(Kind.class);
        durations.forEach((kind, nanos) -> {
            if (!kind.isPerMicrobatch() || kind == Kind.RECOMPUTE) {
                others.put(kind, median(nanos));
            }
        });
        return halves
                ? new StageCost(median(durations.get(Kind.FORWARD)), input, weight, full, outputBytes, others)
                : new StageCost(median(durations.get(Kind.FORWARD)), full / 2, full - full / 2, full, outputBytes,
                        others);
    }

    /** Returns the median; of an even number the larger of the two in the middle. */
    private static long median(List<Long> durations) {
        return durations.stream().sorted().toList().get(durations.size() / 2);
    }
}
