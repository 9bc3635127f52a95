package dev.troupe.config.spec;

import java.time.Duration;
import java.util.List;

/**
 * The times of actions on the engine {@code emulated}. A list has one time for all stages, or one for each.
 *
 * @param forward of one microbatch
 * @param backwardInput of one microbatch, for the input
 * @param backwardWeight of one microbatch, for the weights
 * @param recompute of one microbatch, for the forward again where nothing but inputs of blocks is kept
 * @param update of the weights, once a step
 * @param deviceFlops floating-point operations per second of the device: the times are then the model's own operations
 *     at that rate, and the components above are ignored; 0: they are used
 */
public record EmulatedSpec(List<Duration> forward, List<Duration> backwardInput, List<Duration> backwardWeight,
        List<Duration> recompute, List<Duration> update, double deviceFlops) {

    /** Keeps copies. */
    public EmulatedSpec {
        forward = List.copyOf(forward);
        backwardInput = List.copyOf(backwardInput);
        backwardWeight = List.copyOf(backwardWeight);
        recompute = List.copyOf(recompute);
        update = List.copyOf(update);
    }
}
