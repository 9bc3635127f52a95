package dev.troupe.engine;

/** What engines ask of a {@link Engine#range} before they make it. */
public final class Ranges {
    private Ranges() {
    }

    /**
     * Refuses a range that its buffer does not hold.
     *
     * @throws IllegalArgumentException
     *             where it begins before the buffer, or ends after it
     */
    public static void requireWithin(Tensor buffer, long first, Shape shape) {
        if (first < 0 || shape.elementCount() > buffer.shape().elementCount() - first) {
            throw new IllegalArgumentException("range: %s from element %d on does not lie in a buffer of %s".formatted(
                    shape, first, buffer.shape()));
        }
    }
}
