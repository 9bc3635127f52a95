package dev.troupe.transport.link;

import dev.troupe.protocol.Edge;
import java.util.ArrayDeque;

/** The receiver's end of an edge: its buffers, and how much of the first is filled. Belongs to the transport thread. */
final class IncomingEdge {
    final Edge edge;
    final ArrayDeque<PostedReceives.Buffer> buffers = new ArrayDeque<>();
    /** Granted after those, and no credits yet: the engine still uses the first. */
    final ArrayDeque<PostedReceives.Buffer> inUse = new ArrayDeque<>();
    /** Whole, but a device still copies to them. */
    final ArrayDeque<PostedReceives.Buffer> beingCopied = new ArrayDeque<>();
    /** The first fragment of the message that a device copies, or has copied last. */
    PostedReceives.Landing firstBegun;
    int creditsDue;
    /** Filled bytes of the first buffer; 0 when no message has begun. */
    long filled;
    long pass;
    int microbatch;
    /** The rows of the message in the first buffer. */
    int rows;
    /** The number of the next message; it wraps around. */
    int nextNumber;
    /** The last message with a reported loss: one fault a message is enough. */
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
