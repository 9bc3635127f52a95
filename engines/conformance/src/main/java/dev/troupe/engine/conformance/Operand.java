package dev.troupe.engine.conformance;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import java.util.Arrays;
import java.util.function.Function;

/**
 * One tensor of a kernel call.
 *
 * @param name as the contract calls it
 * @param role what the kernel does with it
 * @param shape its shape, on a given engine
 * @param elements of which type it is
 * @param initial what it holds before the call; null: not a number everywhere, so that an output which is read or left
 *     unwritten shows
 * @param tolerance how far it may be from the truth afterwards; null where it is not written
 * @param innerRounding what an engine of two types may have rounded to the product type on the way, in units of that
 *     type's rounding error; null for nothing
 * @param freeDimension a dimension that fits with one more element too, as the rows of a table do; {@link #NONE}: none
 * @param isOfEitherType whether it may be of the float type and of the product type
 */
record Operand(String name, Role role, Function<Engine, Shape> shape, Elements elements, double[] initial,
        Tolerance tolerance, Tolerance innerRounding, int freeDimension, boolean isOfEitherType) {
    static final int NONE = -1;

    /** The types of a tensor's elements. */
    enum Elements {
        /** Of the engine's float type. */
        FLOATS,
        /** Of the engine's product type. */
        PRODUCTS,
        /** INT32. */
        INTEGERS;

        DataType on(Engine engine) {
            return switch (this) {
                case FLOATS -> engine.parameterType();
                case PRODUCTS -> engine.computeType();
                case INTEGERS -> DataType.INT32;
            };
        }
    }

    Operand ofProducts() {
        return new Operand(name, role, shape, Elements.PRODUCTS, initial, tolerance, innerRounding, freeDimension,
                isOfEitherType);
    }

    Operand roundingInside(Tolerance inner) {
        return new Operand(name, role, shape, elements, initial, tolerance, inner, freeDimension, isOfEitherType);
    }

    Operand growing(int dimension) {
        return new Operand(name, role, shape, elements, initial, tolerance, innerRounding, dimension, isOfEitherType);
    }

    Operand ofEitherType() {
        return new Operand(name, role, shape, elements, initial, tolerance, innerRounding, freeDimension, true);
    }

    /** What it holds before the call where products read this type: an operand of products its nearest numbers. */
    double[] initial(DataType computeType) {
        return elements == Elements.PRODUCTS && computeType == DataType.BFLOAT16 && initial != null
                ? Arrays.stream(initial).map(Bfloat16::round).toArray()
                : initial;
    }

    /** The use of a tensor by a kernel. */
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
