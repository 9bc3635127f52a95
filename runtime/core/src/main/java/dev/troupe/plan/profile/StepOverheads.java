package dev.troupe.plan.profile;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The times of a short run outside the layers, a value of each step.
 *
 * @param actionPpm the time of the actions of a step over the time of the same layers alone, in millionths: in a run they
 *     share the cores with messages and actors
 * @param controlNanos from the end of an action to the start of the next on its rank, if that waits for no message
 * @param hopNanos from the end of an action to the start of one on another rank that waits for its output
 * @param decisionNanos from the last norm to the first update
 * @param restNanos of a step before its first action and after its last
 */
public record StepOverheads(List<Long> actionPpm, List<Long> controlNanos, List<Long> hopNanos,
        List<Long> decisionNanos, List<Long> restNanos) {
    /** The times that are not measured: an action takes what its layers take alone. */
    public static final StepOverheads NONE = new StepOverheads(List.of(), List.of(), List.of(), List.of(), List.of());

    private static final double MILLION = 1e6;

    public StepOverheads {
        actionPpm = List.copyOf(actionPpm);
        controlNanos = List.copyOf(controlNanos);
        hopNanos = List.copyOf(hopNanos);
        decisionNanos = List.copyOf(decisionNanos);
        restNanos = List.copyOf(restNanos);
    }

    /** Returns the median of the time of actions over the time of their layers alone; 1 if it is not measured. */
    public double actionFactor() {
        return actionPpm.isEmpty() ? 1 : median(actionPpm) / MILLION;
    }

    /** Returns the median control of an action. */
    public long control() {
        return median(controlNanos);
    }

    /** Returns the median way of a message within the process, control included. */
    public long hop() {
        return median(hopNanos);
    }

    /** Returns the median time of a step outside its actions. */
    public long once() {
        return median(decisionNanos) + median(restNanos);
    }

    private static long median(List<Long> times) {
        return times.isEmpty() ? 0 : LayerSamples.quantile(times, 0.5);
    }

    StepOverheads drawn(UnaryOperator<List<Long>> draw) {
        return actionPpm.isEmpty()
                ? this
                : new StepOverheads(draw.apply(actionPpm), draw.apply(controlNanos), draw.apply(hopNanos),
                        draw.apply(decisionNanos), draw.apply(restNanos));
    }
}
