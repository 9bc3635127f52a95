package dev.troupe.schedule.search;

import dev.troupe.schedule.simulator.StageCost;

/**
 * A part of a model that no partition cuts: the embedding, an attention half, an MLP half or the head.
 *
 * @param name the name in messages
 * @param cost its cost on a machine of speed 1, as if it were a stage of its own
 * @param residentBytes bytes of its weights, gradients and optimizer state
 * @param activationBytes bytes that one microbatch keeps from its forward to its last backward
 */
public record Unit(String name, StageCost cost, long residentBytes, long activationBytes) {
    public Unit {
        if (residentBytes < 0 || activationBytes < 0) {
            throw new IllegalArgumentException("unit " + name + " needs 0 bytes or more, but has " + residentBytes
                    + " resident and " + activationBytes + " a microbatch");
        }
    }
}
