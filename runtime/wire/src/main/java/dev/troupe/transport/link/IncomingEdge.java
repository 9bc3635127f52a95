package dev.troupe.transport.link;

import dev.troupe.protocol.Edge;
import dev.troupe.transport.frame.Frame;
import java.util.ArrayDeque;

/**
 * The receiver's end of an edge: its granted buffers, and the filled part of the first one. Belongs to the transport thread.
 */
final class IncomingEdge {
    final Edge edge;
    final ArrayDeque<PostedReceives.Buffer> buffers = new ArrayDeque<>();
    /** Buffers without credits, granted after {@code buffers}; the engine still uses the first one. */
    final ArrayDeque<PostedReceives.Buffer> inUse = new ArrayDeque<>();
    /** Complete buffers to which a device still copies. */
    final ArrayDeque<PostedReceives.Buffer> beingCopied = new ArrayDeque<>();
    /** The first fragment of the message that a device is copying or has copied last. */
    Landing firstBegun;
    int creditsDue;
    /** Filled bytes of the first buffer; 0 if no message has begun. */
    long filled;
    long pass;
    int microbatch;
    /** The rows of the message in the first buffer. */
    int rows;
    /** The number of the next message; it wraps around. */
    int nextNumber;
    /** Whether the next two fields name the last message with a reported loss; each loss is reported once. */
    boolean lossKnown;
    long lostPass;
    int lostMicrobatch;

    IncomingEdge(Edge edge) {
        this.edge = edge;
    }

    boolean isContinuedBy(Frame frame) {
        return filled > 0 && pass == frame.pass() && microbatch == frame.microbatch();
    }
}
