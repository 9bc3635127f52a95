package dev.troupe.bench.kernels;

import java.util.List;
import java.util.Locale;

/**
 * The least work of one call of a kernel: the arithmetic of its products, or the memory that it reads and writes.
 *
 * @param benchmark the simple name of the JMH class and its method, such as {@code NormKernels.layerNorm}
 * @param sizes the sizes of its operands, as text
 * @param operations floating-point operations of its products; 0 if memory is its limit
 * @param bytes bytes read and bytes written, each tensor once; 0 if products are its limit
 */
public record KernelWork(String benchmark, String sizes, double operations, double bytes) {
    private static final double OPERATIONS_OF_A_TERM = 2;

    /** Returns the work of every measured kernel. */
    public static List<KernelWork> all() {
        return List.of(ProductKernels.WORK, AttentionKernels.WORK, NormKernels.WORK, RotaryKernels.WORK,
                ElementwiseKernels.WORK,
                CastKernels.WORK,
                VocabularyKernels.WORK, ExpertKernels.WORK, OptimizerKernels.WORK).stream().flatMap(List::stream)
                .toList();
    }

    static KernelWork product(Class<?> family, String method, int m, int k, int n) {
        return new KernelWork(name(family, method), String.format(Locale.ROOT, "[%d x %d] [%d x %d]", m, k, k, n),
                OPERATIONS_OF_A_TERM * m * k * n, 0);
    }

    static KernelWork products(Class<?> family, String method, String sizes, double operations) {
        return new KernelWork(name(family, method), sizes, operations, 0);
    }

    static KernelWork memory(Class<?> family, String method, String sizes, double floats) {
        return new KernelWork(name(family, method), sizes, 0, floats * Float.BYTES);
    }

    private static String name(Class<?> family, String method) {
        return family.getSimpleName() + "." + method;
    }

    /** Returns the simple name of the JMH class. */
    public String family() {
        return benchmark.substring(0, benchmark.indexOf('.'));
    }

    /** Returns the name of the JMH method, which begins with the kernel's name. */
    public String method() {
        return benchmark.substring(benchmark.indexOf('.') + 1);
    }
}
