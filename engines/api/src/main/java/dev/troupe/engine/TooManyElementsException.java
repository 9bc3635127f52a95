package dev.troupe.engine;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A tensor would have more elements than an engine addresses: indices of elements are numbers of 32 bits in kernels, in
 * arrays and in the libraries below them. The caller makes the tensor smaller, or shares it out among more ranks.
 */
public final class TooManyElementsException extends IllegalArgumentException {
    /** The most elements of a tensor that has memory of its own. */
    public static final int MOST = Integer.MAX_VALUE;
    private static final long serialVersionUID = 1;

    private final long[] sizes;
    private final BigInteger elementCount;

    /** One of a tensor with these dimensions, outermost first; their product may be beyond 64 bits. */
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
     * Checks a shape that is to have memory.
     *
     * @throws TooManyElementsException where that is more than {@link #MOST} elements
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

    /** How many elements there would be. */
    public BigInteger elementCount() {
        return elementCount;
    }

    private static String text(long[] sizes) {
        return Arrays.stream(sizes).mapToObj(Long::toString).collect(Collectors.joining(" x ", "[", "]"));
    }
}
