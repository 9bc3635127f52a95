package dev.troupe.engine.conformance;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import java.util.function.Function;

/**
 * One tensor of a kernel call.
 *
 * @param name
 *            as the contract calls it
 * @param role
 *            what the kernel does with it
 * @param shape
 *            its shape, on a given engine
 * @param integers
 *            whether it is INT32 instead of the float type
 * @param initial
 *            what it holds before the call; null: not a number everywhere, so that an output which is read or left
 *            unwritten shows
 * @param tolerance
 *            how far it may be from the truth afterwards; null where it is not written
 * @param freeDimension
 *            a dimension that fits with one more element too, as the rows of a table do; {@link #NONE}: none
 */
record Operand(String name, Role role, Function<Engine, Shape> shape, boolean integers, double[] initial,
        Tolerance tolerance, int freeDimension) {
    static final int NONE = -1;

    /** What a kernel does with a tensor. */
    enum Role {
        /** Read only. */
        INPUT,
        /** Filled by the case before the call, in the engine's own way, and only read by the call. */
        PREPARED,
        /** Overwritten, or changed in place. */
        OUTPUT,
        /** Overwritten in the engine's own way, so that only the engine itself can make sense of it. */
        STATE
    }
}
