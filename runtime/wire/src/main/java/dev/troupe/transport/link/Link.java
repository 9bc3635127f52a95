package dev.troupe.transport.link;

import dev.troupe.engine.Engine;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.Counters;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.frame.FrameWriter;
import dev.troupe.wire.way.FrameWay;
import dev.troupe.wire.way.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The connection of this node with one node, in both directions: credit frames, and fragments with their payloads. Belongs
 * to the transport thread.
 */
class Link {
    private final int node;
    private final int since;
    private final FrameWay way;
    private final Incoming incoming;
    private final FrameWriter writer;
    private final int maxPayload;
    private final TransportSettings settings;
    private final Counters counters;
    private final FrameHook hook;
    /** The message of which a fragment is being written, or null. */
    private SendQueue.Outgoing writing;
    private int writingLength;
    private boolean isUnreachable;
    private long unreachableSinceNanos;
    private boolean isReported;
    /** The reason why no more frames can be sent, or null. */
    private String closed;

    /** The settings and counters that all links of a node share. */
    record Shared(TransportSettings settings, Counters counters, FrameHook hook) {
    }

    /** The frames from one node. Belongs to the transport thread. */
    interface Incoming {
        /** Receives some frames; returns an amount of work that is 0 if there were none. */
        int poll(Arrivals arrivals, int limit);

        /** Returns whether each frame wakes the thread. */
        default boolean wakes() {
            return false;
        }

        /** Prepares for messages from the node, for which a buffer is granted. */
        default void expect(Edge edge, Engine engine) {
            // The first message brings all that is needed.
        }

        /** Returns whether a device is copying to a buffer. */
        default boolean awaitsEngine() {
            return false;
        }

        /** Waits until no granted buffer is being written. */
        default void settle() {
            // Each payload is copied or refused when its frame is handled.
        }

        /** Ends the receipt of frames; closing twice has no effect. */
        default void close() {
            // The way to the node closes it.
        }
    }

    /**
     * @param since the epoch since which both nodes have their current ranks
     * @param writer checks payloads that leave the machine in a frame without another checksum
     */
    Link(int node, int since, FrameWay way, Incoming incoming, FrameWriter writer, Shared shared) {
        this.node = node;
        this.since = since;
        this.way = way;
        this.incoming = incoming;
        this.writer = writer;
        int room = way.maxPayload(FrameWriter.FRAGMENT_HEADER_BYTES);
        this.maxPayload = room - room % FrameWriter.PAYLOAD_UNIT;
        this.settings = shared.settings();
        this.counters = shared.counters();
        this.hook = shared.hook();
    }

    final int node() {
        return node;
    }

    final int since() {
        return since;
    }

    /**
     * Sends the next fragment of a message and advances the message's position. If the engine cannot read the tensor, {@code
     * message.failure} has the reason.
     */
    final Outcome send(SendQueue.Outgoing message, long nowNanos) {
        if (hook.loses(message.id)) {
            message.position = message.byteCount;
            return Outcome.ACCEPTED;
        }
        return closed == null ? sendFragment(message, nowNanos) : Outcome.CLOSED;
    }

    /** Sends the next fragment of a message in a frame. */
    Outcome sendFragment(SendQueue.Outgoing message, long nowNanos) {
        long before = message.position;
        if (!finish()) {
            return backPressured();
        }
        if (message.position > before) {
            return Outcome.ACCEPTED;
        }
        int length = (int) Math.min(message.remaining(), maxPayload);
        Outcome claimed = claim(FrameWriter.FRAGMENT_HEADER_BYTES, length, nowNanos);
        return claimed == Outcome.ACCEPTED ? write(message, length) : claimed;
    }

    private Outcome write(SendQueue.Outgoing message, int length) {
        Optional<MemorySegment> own;
        try {
            own = way.readsMemory(length) ? message.engine.hostMemory(message.tensor) : Optional.empty();
            if (own.isEmpty()) {
                message.read(way.payload());
            }
        } catch (RuntimeException unreadable) {
            way.abort();
            message.failure = unreadable;
            return Outcome.ACCEPTED;
        }
        writeHeader(message, message.position, length);
        Outcome sent = own.isPresent() ? way.commit(own.get(), message.position) : way.commit();
        if (sent == Outcome.ACCEPTED) {
            left(message, length);
            return sent;
        }
        writing = message;
        writingLength = length;
        return backPressured();
    }

    /** Continues the fragment in progress; returns whether another frame may begin. */
    private boolean finish() {
        if (writing == null) {
            return true;
        }
        Outcome pushed = way.push();
        if (pushed == Outcome.BACK_PRESSURED) {
            return false;
        }
        if (pushed == Outcome.ACCEPTED) {
            left(writing, writingLength);
        }
        writing = null; // a fragment that was lost with its connection is written again
        return true;
    }

    /** Writes the header of a claimed frame, after the payload. */
    final void writeHeader(SendQueue.Outgoing message, long position, int length) {
        writer.fragment(way.buffer(), way.offset(), message.id, message.number, message.tensor, position, length);
        if (hook.damages(message.id) && !way.damage()) {
            writer.damage(way.buffer(), way.offset());
        }
    }

    final Outcome sendCredit(int epoch, Edge edge, int count, long nowNanos) {
        if (closed != null) {
            return Outcome.CLOSED;
        }
        if (!finish()) {
            return backPressured();
        }
        Outcome claimed = claim(FrameWriter.CREDIT_BYTES, 0, nowNanos);
        if (claimed == Outcome.ACCEPTED) {
            writer.credit(way.buffer(), way.offset(), epoch, edge, count);
            way.commit();
        }
        return claimed;
    }

    final Outcome claim(int headerBytes, int payloadBytes, long nowNanos) {
        Outcome outcome = way.tryClaim(headerBytes, payloadBytes);
        switch (outcome) {
            case ACCEPTED -> reached();
            case BACK_PRESSURED -> counters.wasBackPressured();
            case NOT_CONNECTED -> {
                if (!isUnreachable) {
                    isUnreachable = true;
                    unreachableSinceNanos = nowNanos;
                }
            }
            case ADMIN_ACTION -> {
            }
            case CLOSED ->
                closed = "the stream to node " + node + " is closed: the Aeron client has lost its media driver, or was"
                        + " stopped for more than " + TransportSettings.LIVENESS_TIMEOUT_SECONDS
                        + " seconds; resume the run";
            case MAX_POSITION_EXCEEDED ->
                closed = "the stream to node " + node + " has carried all the bytes that Aeron can number at terms of "
                        + settings.termLength() + " bytes; make transport.term-length larger and resume the run";
        }
        return outcome;
    }

    final Outcome backPressured() {
        counters.wasBackPressured();
        return Outcome.BACK_PRESSURED;
    }

    /** Records that a part of a message was sent. */
    final void left(SendQueue.Outgoing message, int length) {
        message.position += length;
        sentBytes(length);
    }

    final void sentBytes(int length) {
        counters.sentBytes(length);
    }

    /** Returns whether the ring of this message's ranks is full, so that only messages of other ranks may have space. */
    boolean isFullFor(SendQueue.Outgoing message) {
        return false;
    }

    /** Flushes the sent frames; returns the amount of work. */
    int flush(long nowNanos) {
        way.flush();
        return 0;
    }

    /** Receives some frames; returns an amount of work that is 0 if there were none. */
    final int poll(Arrivals arrivals, int limit) {
        return incoming.poll(arrivals, limit);
    }

    /** Returns whether each frame that arrives wakes the thread. */
    final boolean wakes() {
        return incoming.wakes();
    }

    final boolean isConnected() {
        return way.isConnected();
    }

    final void expect(Edge edge, Engine engine) {
        incoming.expect(edge, engine);
    }

    /** Returns whether a device is copying from a tensor or to a buffer. */
    boolean awaitsEngine() {
        return incoming.awaitsEngine();
    }

    /** Waits until no tensor of a message before an epoch is read, and no granted buffer is written. */
    void settle(int epoch) {
        if (writing != null && writing.id.epoch() < epoch) {
            way.withdraw();
            writing = null;
        }
        incoming.settle();
    }

    /** Stops reading the tensor of a message that failed. */
    void forget(SendQueue.Outgoing message) {
        // Fragments are copied when they are sent.
    }

    private void reached() {
        isUnreachable = false;
        isReported = false;
    }

    /** Returns a fault that was not reported to the ranks, or null; called once per round. */
    final TransportFault newFault(long nowNanos) {
        if (isUnreachable && way.isConnected()) {
            reached();
        }
        if (isReported) {
            return null;
        }
        if (closed != null) {
            isReported = true;
            return new TransportFault.LinkFault(node, closed);
        }
        if (isUnreachable && nowNanos - unreachableSinceNanos >= settings.linkTimeout().toNanos()) {
            isReported = true;
            return new TransportFault.LinkFault(node, "node " + node + " was expected to be connected, but could not be"
                    + " reached for " + TimeUnit.NANOSECONDS.toSeconds(nowNanos - unreachableSinceNanos)
                    + " seconds; see that it runs and that its address is right");
        }
        return null;
    }

    /** Discards all frames in flight, since their reader may have died. */
    void close() {
        incoming.close();
        way.revoke();
    }

    /** Releases resources that outlive the client, after the client is closed. */
    void release() {
        incoming.close();
        way.close();
    }
}
