package dev.troupe.transport;

import java.util.Objects;

/**
 * Which message it is.
 *
 * @param epoch
 *            the incarnation of the pipeline that sent it, from 0
 * @param step
 *            the optimizer step it belongs to, from 0
 * @param edge
 *            from where to where
 * @param microbatch
 *            the microbatch, from 0
 */
public record MessageId(int epoch, long step, Edge edge, int microbatch) {
    public MessageId {
        Objects.requireNonNull(edge, "edge");
        if (epoch < 0 || step < 0 || microbatch < 0) {
            throw new IllegalArgumentException("epoch, step and microbatch of a message must be at least 0, but found "
                    + epoch + ", " + step + ", " + microbatch);
        }
    }

    /** Such as {@code epoch 0, step 12, microbatch 3, rank 0 -> rank 1, stage 1, ACTIVATION}. */
    @Override
    public String toString() {
        return "epoch " + epoch + ", step " + step + ", microbatch " + microbatch + ", " + edge;
    }
}
