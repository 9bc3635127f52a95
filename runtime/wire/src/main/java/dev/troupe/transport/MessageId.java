package dev.troupe.transport;

import dev.troupe.protocol.Edge;
import java.util.Objects;

/**
 * The identity of a message.
 *
 * @param epoch the incarnation of the pipeline that sent it, from 0
 * @param pass the number of its pass, from 0
 * @param edge the edge on which the message is sent
 * @param microbatch the microbatch, from 0
 */
public record MessageId(int epoch, long pass, Edge edge, int microbatch) {
    public MessageId {
        Objects.requireNonNull(edge, "edge");
        if (epoch < 0 || pass < 0 || microbatch < 0) {
            throw new IllegalArgumentException("epoch, pass and microbatch of a message must be at least 0, but found "
                    + epoch + ", " + pass + ", " + microbatch);
        }
    }

    /** Such as {@code epoch 0, pass 12, microbatch 3, rank 0 -> rank 1, stage 1, ACTIVATION}. */
    @Override
    public String toString() {
        return "epoch " + epoch + ", pass " + pass + ", microbatch " + microbatch + ", " + edge;
    }
}
