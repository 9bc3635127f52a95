package dev.troupe.protocol;

/**
 * Bytes of tensors that ranks sent, by kind of channel, without headers and repetitions.
 *
 * @param pipeline bytes between stages, over the transport or within a JVM
 * @param tensor bytes in tensor-parallel groups, counted as {@code CollectiveGroup.bytesSent}
 * @param data bytes in data-parallel groups, likewise
 * @param expert bytes of rows among the ranks that divide the experts, likewise
 */
public record Traffic(long pipeline, long tensor, long data, long expert) {
    public static final Traffic NONE = new Traffic(0, 0, 0, 0);

    public Traffic plus(Traffic other) {
        return new Traffic(pipeline + other.pipeline, tensor + other.tensor, data + other.data,
                expert + other.expert);
    }

    /** Returns an equal part of this traffic, rounded down. */
    public Traffic dividedBy(int parts) {
        return new Traffic(pipeline / parts, tensor / parts, data / parts, expert / parts);
    }

    public Traffic since(Traffic earlier) {
        return new Traffic(pipeline - earlier.pipeline, tensor - earlier.tensor, data - earlier.data,
                expert - earlier.expert);
    }
}
