package dev.troupe.engine.conformance;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;

/**
 * One call of one kernel on operands of certain shapes, with random contents that follow from its name.
 *
 * @param kernelName the method of the engine, and a word for a special use of it
 * @param operands in the order of the calls' tensors
 * @param preparation fills prepared operands before the call under test
 */
record KernelCase(String kernelName, String variant, List<Operand> operands, Call preparation, Call kernel) {
    /** Some kernels on the tensors of a case. */
    @FunctionalInterface
    interface Call {
        void call(Engine engine, Tensor[] tensors);
    }

    static Builder of(String kernelName, String variant, Object... arguments) {
        return new Builder(kernelName, String.format(Locale.ROOT, variant, arguments));
    }

    String method() {
        return kernelName.split(" ")[0];
    }

    int indexOf(String operand) {
        for (int i = 0; i < operands.size(); i++) {
            if (operands.get(i).name().equals(operand)) {
                return i;
            }
        }
        throw new IllegalArgumentException(kernelName + " has no operand " + operand);
    }

    long seed() {
        return Builder.seed(kernelName, variant);
    }

    @Override
    public String toString() {
        return kernelName + " " + variant;
    }

    /** A builder that collects operands, in the order of the calls' tensors. */
    static final class Builder {
        private final String kernelName;
        private final String variant;
        private final Random random;
        private final List<Operand> operands = new ArrayList<>();
        private Call preparation = (engine, tensors) -> {
        };

        private Builder(String kernelName, String variant) {
            this.kernelName = kernelName;
            this.variant = variant;
            this.random = new Random(seed(kernelName, variant));
        }

        private static long seed(String kernelName, String variant) {
            return (kernelName + " " + variant).hashCode();
        }

        /** Normally distributed numbers, each exactly a float, so that every engine starts from the same. */
        double[] gaussian(int count) {
            double[] numbers = new double[count];
            for (int i = 0; i < count; i++) {
                numbers[i] = (float) random.nextGaussian();
            }
            return numbers;
        }

        Builder input(String name, int... sizes) {
            return input(name, gaussian((int) Shape.of(sizes).elementCount()), sizes);
        }

        Builder input(String name, double[] numbers, int... sizes) {
            return add(name, Operand.Role.INPUT, engine -> Shape.of(sizes), Operand.Elements.FLOATS, numbers, null);
        }

        /** The operand named last may have one more element in a dimension. */
        Builder mayGrow(int dimension) {
            operands.add(operands.removeLast().growing(dimension));
            return this;
        }

        /** Allows an engine of two types to round inside the kernel, for the operand named last. */
        Builder roundsInside(Tolerance inner) {
            operands.add(operands.removeLast().roundingInside(inner));
            return this;
        }

        /** All operands may be of the float type or of the product type. */
        Builder ofEitherType() {
            operands.replaceAll(Operand::ofEitherType);
            return this;
        }

        Builder products(String... names) {
            Set<String> chosen = Set.of(names);
            operands.replaceAll(operand -> chosen.contains(operand.name()) ? operand.ofProducts() : operand);
            return this;
        }

        /** INT32 numbers from 0 to limit - 1, at least one of them limit - 1. */
        Builder ids(String name, int limit, int count) {
            double[] ids = new double[count];
            for (int i = 0; i < count; i++) {
                ids[i] = random.nextInt(limit);
            }
            ids[count / 2] = limit - 1;
            return ids(name, ids);
        }

        Builder ids(String name, double[] ids) {
            return ids(name, ids, ids.length);
        }

        Builder ids(String name, double[] ids, int... sizes) {
            return add(name, Operand.Role.INPUT, engine -> Shape.of(sizes), Operand.Elements.INTEGERS, ids, null);
        }

        /** INT32 numbers that the call writes. */
        Builder idsOutput(String name, int... sizes) {
            return add(name, Operand.Role.OUTPUT, engine -> Shape.of(sizes), Operand.Elements.INTEGERS, null,
                    (truth, i) -> 0);
        }

        /** Replaces every third of the ids named last, from an index on. */
        Builder every(int first, int instead) {
            double[] ids = operands.getLast().initial();
            for (int i = first; i < ids.length; i += 3) {
                ids[i] = instead;
            }
            return this;
        }

        Builder output(String name, Tolerance tolerance, int... sizes) {
            return add(name, Operand.Role.OUTPUT, engine -> Shape.of(sizes), Operand.Elements.FLOATS, null, tolerance);
        }

        /** An operand that the call adds to, or changes in place. */
        Builder changed(String name, Tolerance tolerance, int... sizes) {
            return changed(name, tolerance, gaussian((int) Shape.of(sizes).elementCount()), sizes);
        }

        Builder changed(String name, Tolerance tolerance, double[] numbers, int... sizes) {
            return add(name, Operand.Role.OUTPUT, engine -> Shape.of(sizes), Operand.Elements.FLOATS, numbers,
                    tolerance);
        }

        Builder state(String name, Function<Engine, Shape> shape) {
            return add(name, Operand.Role.STATE, shape, Operand.Elements.FLOATS, null, null);
        }

        Builder prepared(String name, Function<Engine, Shape> shape) {
            return add(name, Operand.Role.PREPARED, shape, Operand.Elements.FLOATS, null, null);
        }

        Builder prepare(Call call) {
            preparation = call;
            return this;
        }

        KernelCase run(Call call) {
            return new KernelCase(kernelName, variant, List.copyOf(operands), preparation, call);
        }

        private Builder add(String name, Operand.Role role, Function<Engine, Shape> shape,
                Operand.Elements elements, double[] initial, Tolerance tolerance) {
            operands.add(new Operand(name, role, shape, elements, initial, tolerance, null, Operand.NONE, false));
            return this;
        }
    }
}
