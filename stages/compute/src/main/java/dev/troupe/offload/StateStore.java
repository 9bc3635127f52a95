package dev.troupe.offload;

/** A store of the state of one rank outside the memory of its engine. Thread rule: any thread. */
@FunctionalInterface
public interface StateStore extends AutoCloseable {
    /** A store that holds nothing, for a walk through sizes or a warm-up: values that are read are any content. */
    StateStore NOTHING = _ -> StateRegion.NOTHING;

    /** Returns the elements that an update reads at a time, a multiple of 64: with 2^18, a file has calls of a MiB. */
    default long chunkElements() {
        return 1 << 18;
    }

    /** Returns new room for state, filled with zeros; the caller closes it, or {@link #close} does. */
    StateRegion open(long byteCount);

    /** Closes all room that is still open. Called after the last use of it. */
    @Override
    default void close() {
    }
}
