package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Kind;

/**
 * What one microbatch costs in one stage.
 *
 * @param forwardNanos time of F
 * @param backwardInputNanos time of I
 * @param backwardWeightNanos time of W
 * @param fullBackwardNanos time of B; less than I and W together where the two share work
 * @param outputBytes size of the activation that the stage hands on, and of the gradient that comes back for it
 */
public record StageCost(long forwardNanos, long backwardInputNanos, long backwardWeightNanos, long fullBackwardNanos,
        long outputBytes) {

    public StageCost {
        if (forwardNanos < 0 || backwardInputNanos < 0 || backwardWeightNanos < 0 || fullBackwardNanos < 0
                || outputBytes < 0) {
            throw new IllegalArgumentException("the costs of a stage are 0 or more, but are " + forwardNanos + ", "
                    + backwardInputNanos + ", " + backwardWeightNanos + " and " + fullBackwardNanos + " ns and "
                    + outputBytes + " bytes");
        }
    }

    /** A stage whose B takes as long as I and W together. */
    public StageCost(long forwardNanos, long backwardInputNanos, long backwardWeightNanos, long outputBytes) {
        this(forwardNanos, backwardInputNanos, backwardWeightNanos, backwardInputNanos + backwardWeightNanos,
                outputBytes);
    }

    /** How long a rank is busy with an action of a kind; sends and receives keep it busy for no time. */
    public long nanos(Kind kind) {
        return switch (kind) {
            case FORWARD -> forwardNanos;
            case FULL_BACKWARD -> fullBackwardNanos;
            case BACKWARD_INPUT -> backwardInputNanos;
            case BACKWARD_WEIGHT -> backwardWeightNanos;
            case SEND_F, RECV_F, SEND_B, RECV_B -> 0;
        };
    }
}
