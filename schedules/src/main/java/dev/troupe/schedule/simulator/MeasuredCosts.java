package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;

/** The costs of a measured step, to simulate its plan, or other plans of the same model on the same machine. */
public final class MeasuredCosts {
    private MeasuredCosts() {
    }

    /**
     * Returns the median of each stage and kind, since some actions of every step are delayed. If the measured plan had only
     * B, half of it is taken for I and half for W; if it had only I and W, their sum is taken for B.
     *
     * @param measured one step, or several with their spans in one timeline
     * @param outputBytes for each stage, the size of the activation that it sends
     * @param hops the hop between any two ranks, which spans do not include
     * @throws IllegalArgumentException if a stage has no forward or no backward in the timeline
     */
    public static Costs of(Timeline measured, IntToLongFunction outputBytes, Costs.Hops hops) {
        Map<Integer, Map<Kind, List<Span>>> series = series(measured);
        List<StageCost> stages = new ArrayList<>();
        for (int stage = 0; stage < measured.stageCount(); stage++) {
            stages.add(stageCost(stage, series.getOrDefault(stage, Map.of()), outputBytes.applyAsLong(stage)));
        }
        return new Costs(stages, hops);
    }

    private static Map<Integer, Map<Kind, List<Span>>> series(Timeline measured) {
        Map<Integer, Map<Kind, List<Span>>> series = new TreeMap<>();
        for (Span span : measured.spans()) {
            series.computeIfAbsent(span.action().stage(), _ -> new EnumMap<>(Kind.class))
                    .computeIfAbsent(span.action().kind(), _ -> new ArrayList<>()).add(span);
        }
        Comparator<Span> byMicrobatch = Comparator.comparingInt(span -> span.action().microbatch());
        series.values().forEach(kinds -> kinds.values().forEach(spans -> spans.sort(byMicrobatch)));
        return series;
    }

    /**
     * Returns the measured shares of a step's microbatches, rotated by a random number of microbatches: the circular
     * bootstrap with one block (Politis and Romano 1992, A circular block-resampling procedure for stationary data).
     * Disturbances of the machine affect neighbouring actions, on one rank or on all, and a rank waits for the later of two.
     * So a simulated step is too short if every action takes its mean, or if slow actions are not neighbours.
     *
     * @param stages the costs to which the shares are relative
     * @param moreNanos the part of each cost in {@code stages} that is added to the measured time
     */
    public static Costs.Microbatches shifted(Timeline step, List<StageCost> stages, long moreNanos, Random drawn) {
        Map<Integer, Map<Kind, List<Span>>> series = series(step);
        int by = drawn.nextInt(
                series.values().stream().flatMap(kinds -> kinds.values().stream()).mapToInt(List::size).max()
                        .orElse(1));
        Map<Action, Double> shares = new HashMap<>();
        series.forEach((stage, kinds) -> kinds.forEach((kind, spans) -> {
            long usual = stages.get(stage).nanos(kind);
            for (int index = 0; usual > 0 && index < spans.size(); index++) {
                long nanos = spans.get((index + by) % spans.size()).nanos() + moreNanos;
                shares.put(new Action(stage, kind, spans.get(index).action().microbatch()), (double) nanos / usual);
            }
        }));
        return (stage, kind, microbatch) -> shares.getOrDefault(new Action(stage, kind, microbatch), 1.0);
    }

    private static StageCost stageCost(int stage, Map<Kind, List<Span>> spans, long outputBytes) {
        boolean whole = spans.containsKey(Kind.FULL_BACKWARD);
        boolean halves = spans.containsKey(Kind.BACKWARD_INPUT) && spans.containsKey(Kind.BACKWARD_WEIGHT);
        if (!spans.containsKey(Kind.FORWARD) || !whole && !halves) {
            throw new IllegalArgumentException(
                    "stage " + stage + " needs an F and a B, or an I and a W, to have its costs "
                            + "read off, but was measured with "
                            + spans.keySet().stream().map(Kind::code).sorted().toList());
        }
        long input = halves ? median(spans.get(Kind.BACKWARD_INPUT)) : 0;
        long weight = halves ? median(spans.get(Kind.BACKWARD_WEIGHT)) : 0;
        long full = whole ? median(spans.get(Kind.FULL_BACKWARD)) : input + weight;
        Map<Kind, Long> others = new EnumMap<>(Kind.class);
        spans.forEach((kind, ofKind) -> {
            if (!kind.isPerMicrobatch() || kind == Kind.RECOMPUTE) {
                others.put(kind, median(ofKind));
            }
        });
        return halves
                ? new StageCost(median(spans.get(Kind.FORWARD)), input, weight, full, outputBytes, others)
                : new StageCost(median(spans.get(Kind.FORWARD)), full / 2, full - full / 2, full, outputBytes,
                        others);
    }

    /** Returns the median; of an even number the larger of the two in the middle. */
    private static long median(List<Span> spans) {
        return spans.stream().map(Span::nanos).sorted().toList().get(spans.size() / 2);
    }
}
