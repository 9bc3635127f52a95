package dev.troupe.protocol.watch;

import dev.troupe.schedule.Kind;

/**
 * The computing times of one stage of a rank in a step: for each kind of action the shortest time of a microbatch, without
 * waits for other ranks. Nanoseconds; 0 for a kind that the row does not have.
 */
public record StageTime(int stage, long forward, long backward, long backwardInput, long backwardWeight) {
    public long nanos(Kind kind) {
        return switch (kind) {
            case FORWARD -> forward;
            case FULL_BACKWARD -> backward;
            case BACKWARD_INPUT -> backwardInput;
            case BACKWARD_WEIGHT -> backwardWeight;
            default -> throw new IllegalArgumentException(kind + " computes nothing");
        };
    }
}
