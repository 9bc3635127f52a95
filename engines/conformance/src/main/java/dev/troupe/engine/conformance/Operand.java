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
 * @param shape its shape, on a given engine
 * @param initial contents before the call; null: NaN everywhere, to detect an output that is read or left unwritten
 * @param tolerance the allowed error after the call; null for an operand that is not written
 * @param innerRounding the further error allowed to an engine with two types for rounding inside the kernel, in units of the
 *     product type's rounding error; null for none
 * @param freeDimension a dimension that may also have one element more, such as the rows of a table; {@link #NONE}: none
 * @param isOfEitherType whether it may be of the float type or of the product type
 */
record Operand(String name, Role role, Function<Engine, Shape> shape, Elements elements, double[] initial,
        Tolerance tolerance, Tolerance innerRounding, int freeDimension, boolean isOfEitherType) {
    static final int NONE = -1;

    enum Elements {
        FLOATS, PRODUCTS, INTEGERS;

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

    /**
     * Returns the contents before the call on an engine with this product type, to which operands of products are rounded.
     */
    double[] initial(DataType computeType) {
        return elements == Elements.PRODUCTS && computeType == DataType.BFLOAT16 && initial != null
                ? Arrays.stream(initial).map(Bfloat16::round).toArray()
                : initial;
    }

    /** The use of a tensor by a kernel. */
    enum Role {
        INPUT,
        /** Filled by the case before the call, in the engine's own way, and only read by the call. */
        PREPARED,
        /** Overwritten, or changed in place. */
        OUTPUT,
        /** Overwritten in a form that only the engine itself can read. */
        STATE
    }
}
