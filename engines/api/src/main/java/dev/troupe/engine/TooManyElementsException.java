package dev.troupe.engine;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The refusal of a tensor with more elements than an engine can address: kernels, arrays and libraries index elements with
 * 32 bits. The caller makes the tensor smaller, or divides it among more ranks.
 */
public final class TooManyElementsException extends IllegalArgumentException {
    /** The most elements of a tensor that has memory of its own. */
    public static final int MOST = Integer.MAX_VALUE;
    private static final long serialVersionUID = 1;

    private final long[] sizes;
    private final BigInteger elementCount;

    /** Dimensions are outermost first; their product may exceed 64 bits. */
    public TooManyElementsException(long... sizes) {
        this(sizes.clone(),
                Arrays.stream(sizes).mapToObj(BigInteger::valueOf).reduce(BigInteger.ONE, BigInteger::multiply));
    }

    private TooManyElementsException(long[] sizes, BigInteger elementCount) {
        super(String.format(Locale.ROOT, "a tensor has at most %,d elements, but one of %s would have %,d", MOST,
                text(sizes), elementCount));
        this.sizes = sizes;
        this.elementCount = elementCount;
    }

    /**
     * Checks a shape before its memory is allocated.
     *
     * @throws TooManyElementsException if it has more than {@link #MOST} elements
     */
    public static void check(Shape shape) {
        if (shape.elementCount() > MOST) {
            throw new TooManyElementsException(Arrays.stream(shape.toArray()).asLongStream().toArray());
        }
    }

    /** The sizes of the dimensions, outermost first, as a fresh array. */
    public long[] sizes() {
        return sizes.clone();
    }

    /** The number of elements of the refused tensor. */
    public BigInteger elementCount() {
        return elementCount;
    }

    private static String text(long[] sizes) {
        return Arrays.stream(sizes).mapToObj(Long::toString).collect(Collectors.joining(" x ", "[", "]"));
    }
}
