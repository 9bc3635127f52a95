package dev.troupe.protocol;

/**
 * Bytes of tensors that ranks sent, by kind of channel, without headers and repetitions.
 *
 * @param pipeline bytes between stages, over the transport or within a JVM
 * @param tensor bytes in tensor-parallel groups, counted as {@code CollectiveGroup.bytesSent}
 * @param data bytes in data-parallel groups, likewise
 */
public record Traffic(long pipeline, long tensor, long data) {
    public static final Traffic NONE = new Traffic(0, 0, 0);

    public Traffic plus(Traffic other) {
        return new Traffic(pipeline + other.pipeline, tensor + other.tensor, data + other.data);
    }

    /** Returns an equal part of this traffic, rounded down. */
    public Traffic dividedBy(int parts) {
        return new Traffic(pipeline / parts, tensor / parts, data / parts);
    }

    public Traffic since(Traffic earlier) {
        return new Traffic(pipeline - earlier.pipeline, tensor - earlier.tensor, data - earlier.data);
    }
}
