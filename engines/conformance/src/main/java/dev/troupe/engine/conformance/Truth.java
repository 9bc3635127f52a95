package dev.troupe.engine.conformance;

import dev.troupe.engine.DataType;
import dev.troupe.engine.reference.ReferenceEngine;
import java.lang.ref.SoftReference;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The right results of a kernel: the case on the reference engine in float64, with the same operands. Computed once for all
 * engines of a JVM, as far as memory allows.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Truth {
    /** By the name of the case, which determines its operands, and the type of products. */
    private static final Map<String, SoftReference<Truth>> KNOWN = new HashMap<>();

    private final KernelCase kernelCase;
    private final DataType computeType;
    private final double[][] after;
    private final double[][] before;
    private final Map<String, Double> largestAfter = new HashMap<>();
    private final Map<Function<Truth, double[]>, double[]> derived = new IdentityHashMap<>();
    private double[][] ofMagnitudes;

    /** The right results of a case, for an engine with products of a type. */
    static Truth of(KernelCase kernelCase, DataType computeType) {
        String key = kernelCase + " " + computeType;
        SoftReference<Truth> known = KNOWN.get(key);
        Truth truth = known == null ? null : known.get();
        if (truth == null) {
            truth = new Truth(kernelCase, computeType);
            KNOWN.put(key, new SoftReference<>(truth));
        }
        return truth;
    }

    private Truth(KernelCase kernelCase, DataType computeType) {
        this.kernelCase = kernelCase;
        this.computeType = computeType;
        this.before = new double[kernelCase.operands().size()][];
        this.after = results(false);
    }

    double[] before(String name) {
        int operand = kernelCase.indexOf(name);
        if (before[operand] == null) {
            before[operand] = kernelCase.operands().get(operand).initial(computeType);
        }
        return before[operand];
    }

    double[] after(String name) {
        return after[kernelCase.indexOf(name)];
    }

    double[] after(int operand) {
        return after[operand];
    }

    /** The largest magnitude in an operand after the call. */
    double largestAfter(String name) {
        return largestAfter.computeIfAbsent(name, any -> largest(after(any), 0, after(any).length));
    }

    /** Numbers that a tolerance derives for all elements of the case, computed once. */
    double[] derived(Function<Truth, double[]> numbers) {
        return derived.computeIfAbsent(numbers, any -> any.apply(this));
    }

    /** The content of an operand after the same call on magnitudes. */
    double[] ofMagnitudes(String name) {
        if (ofMagnitudes == null) {
            ofMagnitudes = results(true);
        }
        return ofMagnitudes[kernelCase.indexOf(name)];
    }

    /** The largest magnitude among {@code count} numbers from an index. */
    static double largest(double[] numbers, int from, int count) {
        double largest = 0;
        for (int i = from; i < from + count; i++) {
            largest = Math.max(largest, Math.abs(numbers[i]));
        }
        return largest;
    }

    private double[][] results(boolean magnitudes) {
        try (ReferenceEngine engine = new ReferenceEngine(DataType.FLOAT64);
                Trial trial = new Trial(engine, kernelCase, computeType, 0)) {
            trial.reset(magnitudes ? Truth::magnitudes : numbers -> numbers);
            trial.prepare();
            trial.run();
            double[][] results = new double[kernelCase.operands().size()][];
            for (int i = 0; i < results.length; i++) {
                results[i] = trial.numbers(i);
            }
            return results;
        }
    }

    private static double[] magnitudes(double[] numbers) {
        return Arrays.stream(numbers).map(Math::abs).toArray();
    }
}
