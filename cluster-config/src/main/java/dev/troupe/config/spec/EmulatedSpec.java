package dev.troupe.config.spec;

import dev.troupe.config.value.Range;
import dev.troupe.config.value.Values;
import java.time.Duration;
import java.util.List;

/**
 * The times of actions on the engine {@code emulated}. A list has one time for all stages, or one for each.
 *
 * @param deviceFlops floating-point operations per second of the device, from which the times follow; 0: the others
 * @param offloadBandwidth bytes per second of the files of offloaded state; 0: they take no time
 * @param speed of the device: all times are divided by it
 */
public record EmulatedSpec(List<Duration> forward, List<Duration> backwardInput, List<Duration> backwardWeight,
        List<Duration> recompute, List<Duration> update, double deviceFlops, double offloadBandwidth, double speed) {

    public EmulatedSpec {
        forward = List.copyOf(forward);
        backwardInput = List.copyOf(backwardInput);
        backwardWeight = List.copyOf(backwardWeight);
        recompute = List.copyOf(recompute);
        update = List.copyOf(update);
    }

    /** Creates the times of a device of speed 1. */
    public EmulatedSpec(List<Duration> forward, List<Duration> backwardInput, List<Duration> backwardWeight,
            List<Duration> recompute, List<Duration> update, double deviceFlops) {
        this(forward, backwardInput, backwardWeight, recompute, update, deviceFlops, 0, 1);
    }

    /** Returns the same times on a device of another speed. */
    EmulatedSpec withSpeed(double other) {
        return new EmulatedSpec(forward, backwardInput, backwardWeight, recompute, update, deviceFlops,
                offloadBandwidth,
                other);
    }

    static EmulatedSpec read(Values values) {
        return new EmulatedSpec(times(values, "forward"), times(values, "backward-input"),
                times(values, "backward-weight"), times(values, "recompute"), times(values, "update"),
                values.decimal("engine.emulated.device-flops", Range.NOT_NEGATIVE),
                values.decimal("engine.emulated.offload-bandwidth", Range.NOT_NEGATIVE),
                values.decimal("engine.emulated.speed", Range.POSITIVE));
    }

    private static List<Duration> times(Values values, String work) {
        return values.durations("engine.emulated." + work, Duration.ZERO, Duration.ofHours(1));
    }
}
