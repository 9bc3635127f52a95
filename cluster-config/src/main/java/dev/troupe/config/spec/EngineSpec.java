package dev.troupe.config.spec;

import java.util.Objects;
import java.util.OptionalInt;

/**
 * The engine of a run.
 *
 * @param kind name of an engine, or {@code auto}: the best that the machine can run
 * @param threads threads that compute for one rank; 0: the cores of the machine divided among the ranks on it
 * @param device the device that the ranks compute on, in the order of its driver; empty: the ranks of a machine take
 *     turns over the devices there are
 * @param products the libraries of matrix products, for engines that let choose: {@code auto}, or what the engine has a
 *     name for
 * @param emulated the times of actions on the engine {@code emulated}
 */
public record EngineSpec(String kind, int threads, OptionalInt device, String products, EmulatedSpec emulated) {

    /** The kind by which the runtime chooses the engine, and the products by which it chooses their libraries. */
    public static final String AUTO = "auto";
    /** The value of {@code engine.device} for no device of its own. */
    public static final String ROUND_ROBIN = "round-robin";

    /** Refuses a missing part. */
    public EngineSpec {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(products, "products");
        Objects.requireNonNull(emulated, "emulated");
    }

    /** Returns the same engine with other libraries of matrix products. */
    public EngineSpec withProducts(String others) {
        return new EngineSpec(kind, threads, device, others, emulated);
    }

    /** Returns the device as the configuration has it. */
    public String deviceText() {
        return device.isPresent() ? "" + device.getAsInt() : ROUND_ROBIN;
    }
}
