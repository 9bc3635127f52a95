package dev.troupe.engine.cpu.product;

import java.util.Locale;

/** The kinds of products that libraries differ in. */
public enum ProductForm {
    /** Of many rows, so that a right side is worth packing; of a parameter it is packed until the parameter changes. */
    LARGE,
    /** As large, with a left side that is transposed: the gradient of a weight. */
    GRADIENT,
    /** Any other of a layer. */
    SMALL,
    /** Of a tile of queries and a tile of keys or values of a head. */
    ATTENTION;

    /** Multiplications from which on packing gains more than it costs. */
    private static final long LARGE_MULTIPLICATIONS = 1L << 27;

    /** The form of a product of a layer, by its rows and the elements of its right side. */
    static ProductForm of(long rows, long rightElements, boolean transposeLeft) {
        return rows * rightElements < LARGE_MULTIPLICATIONS ? SMALL : transposeLeft ? GRADIENT : LARGE;
    }

    /** As a choice of libraries has it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
