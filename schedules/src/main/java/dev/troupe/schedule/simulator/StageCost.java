package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The cost of one microbatch in one stage, and of its actions of the whole step. B or I includes the replay unless a
 * RECOMPUTE has done it.
 *
 * @param fullBackwardNanos time of B; less than I and W together if the two share work
 * @param outputBytes size of the activation that the stage sends, and of its gradient
 * @param otherNanos time of RECOMPUTE, and of each kind of action that is done once in a step; other kinds take none
 */
public record StageCost(long forwardNanos, long backwardInputNanos, long backwardWeightNanos, long fullBackwardNanos,
        long outputBytes, Map<Kind, Long> otherNanos) {

    public StageCost {
        otherNanos = Map.copyOf(otherNanos);
        if (forwardNanos < 0 || backwardInputNanos < 0 || backwardWeightNanos < 0 || fullBackwardNanos < 0
                || outputBytes < 0) {
            throw new IllegalArgumentException("the costs of a stage are 0 or more, but are " + forwardNanos + ", "
                    + backwardInputNanos + ", " + backwardWeightNanos + " and " + fullBackwardNanos + " ns and "
                    + outputBytes + " bytes");
        }
    }

    public StageCost(long forwardNanos, long backwardInputNanos, long backwardWeightNanos, long outputBytes) {
        this(forwardNanos, backwardInputNanos, backwardWeightNanos, backwardInputNanos + backwardWeightNanos,
                outputBytes);
    }

    public StageCost(long forwardNanos, long backwardInputNanos, long backwardWeightNanos, long fullBackwardNanos,
            long outputBytes) {
        this(forwardNanos, backwardInputNanos, backwardWeightNanos, fullBackwardNanos, outputBytes, Map.of());
    }

    /** Returns these costs with {@code nanos} more for every action that takes time. */
    public StageCost plus(long nanos) {
        Map<Kind, Long> others = otherNanos.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, cost -> cost.getValue() + nanos));
        return new StageCost(forwardNanos + nanos, backwardInputNanos + nanos, backwardWeightNanos + nanos,
                fullBackwardNanos + nanos, outputBytes, others);
    }

    /** Returns the cost of this stage and the next one as one stage, which sends what the next one does. */
    public StageCost then(StageCost next) {
        Map<Kind, Long> others = new HashMap<>(otherNanos);
        next.otherNanos.forEach((kind, nanos) -> others.merge(kind, nanos, Long::sum));
        return new StageCost(forwardNanos + next.forwardNanos, backwardInputNanos + next.backwardInputNanos,
                backwardWeightNanos + next.backwardWeightNanos, fullBackwardNanos + next.fullBackwardNanos,
                next.outputBytes, others);
    }

    /** Returns these costs with another time of a kind that is not F, I, W or B. */
    public StageCost with(Kind kind, long nanos) {
        Map<Kind, Long> others = new HashMap<>(otherNanos);
        others.put(kind, nanos);
        return new StageCost(forwardNanos, backwardInputNanos, backwardWeightNanos, fullBackwardNanos, outputBytes,
                others);
    }

    /** Returns the cost on a machine of another speed, 1 for the same; times are rounded to the nearest nanosecond. */
    public StageCost at(double speed) {
        if (speed == 1) {
            return this;
        }
        Map<Kind, Long> others = otherNanos.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, cost -> Math.round(cost.getValue() / speed)));
        return new StageCost(Math.round(forwardNanos / speed), Math.round(backwardInputNanos / speed),
                Math.round(backwardWeightNanos / speed), Math.round(fullBackwardNanos / speed), outputBytes, others);
    }

    /**
     * Returns these costs, which have no replay, with one.
     * @param nanos time of the replay of one microbatch
     * @param isAhead true: a RECOMPUTE does it; false: it is part of B, and of I
     */
    public StageCost replaying(long nanos, boolean isAhead) {
        Map<Kind, Long> others = new HashMap<>(otherNanos);
        others.put(Kind.RECOMPUTE, nanos);
        return isAhead
                ? new StageCost(forwardNanos, backwardInputNanos, backwardWeightNanos, fullBackwardNanos, outputBytes,
                        others)
                : new StageCost(forwardNanos, backwardInputNanos + nanos, backwardWeightNanos,
                        fullBackwardNanos + nanos,
                        outputBytes, otherNanos);
    }

    /** Returns the time of an action of a kind; sends and receives of microbatches take none. */
    public long nanos(Kind kind) {
        return switch (kind) {
            case FORWARD -> forwardNanos;
            case FULL_BACKWARD -> fullBackwardNanos;
            case BACKWARD_INPUT -> backwardInputNanos;
            case BACKWARD_WEIGHT -> backwardWeightNanos;
            default -> otherNanos.getOrDefault(kind, 0L);
        };
    }
}
