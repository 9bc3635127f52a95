package dev.troupe.bench.kernels;

import java.util.List;
import java.util.Locale;

/**
 * The least work of one call of a kernel: the arithmetic of its products, or the memory that it reads and writes.
 *
 * @param method the name of the call, which begins with the kernel's name
 * @param sizes of its operands, in words
 * @param operations floating-point operations of its products; 0 if memory is its limit
 * @param bytes bytes read and bytes written, each tensor once; 0 if products are its limit
 */
public record KernelWork(String family, String method, String sizes, double operations, double bytes) {
    /** Operations of the call {@code product} of the limits. */
    public static final double PRODUCT_OPERATIONS = 2.0 * KernelFamily.SIDE * KernelFamily.SIDE * KernelFamily.SIDE;
    /** Bytes that the call {@code copyNarrow} of the limits reads and writes. */
    public static final double NARROW_BYTES = 2.0 * Workbench.N * Workbench.C * Float.BYTES;
    /** Bytes that the call {@code copyWide} of the limits reads and writes. */
    public static final double WIDE_BYTES = 4 * NARROW_BYTES;

    private static final double OPERATIONS_OF_A_TERM = 2;

    /** Every kernel that is measured, without the limits. */
    public static List<KernelWork> all() {
        return KernelFamily.ALL.stream().flatMap(family -> family.work().stream()).toList();
    }

    static KernelWork product(String family, String method, int m, int k, int n) {
        return products(family, method, String.format(Locale.ROOT, "[%d x %d] [%d x %d]", m, k, k, n),
                OPERATIONS_OF_A_TERM * m * k * n);
    }

    static KernelWork products(String family, String method, String sizes, double operations) {
        return new KernelWork(family, method, sizes, operations, 0);
    }

    static KernelWork memory(String family, String method, String sizes, double floats) {
        return new KernelWork(family, method, sizes, 0, floats * Float.BYTES);
    }

    /** The name of the call of a limit. */
    public static String limit(String method) {
        return KernelFamily.LIMITS + "." + method;
    }

    public String benchmark() {
        return family + "." + method;
    }
}
