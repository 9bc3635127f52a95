package dev.troupe.engine.cpu.product;

import java.util.Locale;

/** The forms of products, for which the speeds of libraries differ. */
public enum ProductForm {
    /** Products of many rows, so that a right side is worth packing; a packed parameter is kept until it changes. */
    LARGE,
    /** As large, with a transposed left side: the gradient of a weight. */
    GRADIENT, SMALL,
    /** Products of a tile of queries and a tile of keys or values in a head. */
    ATTENTION;

    /** The number of multiplications from which packing gains more than it costs. */
    private static final long LARGE_MULTIPLICATIONS = 1L << 27;

    /** The form of a product of a layer, by its rows and the elements of its right side. */
    static ProductForm of(long rows, long rightElements, boolean transposeLeft) {
        return rows * rightElements < LARGE_MULTIPLICATIONS ? SMALL : transposeLeft ? GRADIENT : LARGE;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
