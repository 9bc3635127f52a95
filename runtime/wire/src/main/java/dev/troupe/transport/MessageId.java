package dev.troupe.transport;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import java.util.Objects;

/**
 * The identity of a message on the wire: the message of the plan, sent in a pass and an epoch.
 *
 * @param epoch the incarnation of the pipeline that sent it, from 0
 * @param pass the number of its pass, from 0
 */
public record MessageId(int epoch, long pass, MessageKey message) {
    public MessageId {
        Objects.requireNonNull(message.edge(), "edge");
        if (epoch < 0 || pass < 0 || message.microbatch() < 0) {
            throw new IllegalArgumentException("epoch, pass and microbatch of a message must be at least 0, but found "
                    + epoch + ", " + pass + ", " + message.microbatch());
        }
    }

    public MessageId(int epoch, long pass, Edge edge, int microbatch) {
        this(epoch, pass, new MessageKey(edge, microbatch));
    }

    public Edge edge() {
        return message.edge();
    }

    /** Returns the number of the message on its edge in the pass: its microbatch, from 0. */
    public int microbatch() {
        return message.microbatch();
    }

    /** Such as {@code epoch 0, pass 12, microbatch 3, rank 0 -> rank 1, stage 1, ACTIVATION}. */
    @Override
    public String toString() {
        return "epoch " + epoch + ", pass " + pass + ", microbatch " + microbatch() + ", " + edge();
    }
}
