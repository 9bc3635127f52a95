package dev.troupe.protocol;

/**
 * Bytes of tensors that ranks sent, by what they were sent along; headers and repetitions are not counted.
 *
 * @param pipeline between stages, over the transport, those to a rank of the same JVM too
 * @param tensor in tensor-parallel groups, as {@code CollectiveGroup.bytesSent} counts
 * @param data in data-parallel groups, likewise
 */
public record Traffic(long pipeline, long tensor, long data) {
    /** Nothing was sent. */
    public static final Traffic NONE = new Traffic(0, 0, 0);

    /** Both together. */
    public Traffic plus(Traffic other) {
        return new Traffic(pipeline + other.pipeline, tensor + other.tensor, data + other.data);
    }

    /** One of equal parts, the numbers rounded down. */
    public Traffic dividedBy(int parts) {
        return new Traffic(pipeline / parts, tensor / parts, data / parts);
    }

    /** The traffic since an earlier count. */
    public Traffic since(Traffic earlier) {
        return new Traffic(pipeline - earlier.pipeline, tensor - earlier.tensor, data - earlier.data);
    }
}
