package dev.troupe.transport.aeron;

import dev.troupe.protocol.Edge;
import dev.troupe.transport.Counters;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.TransportFault;
import java.util.concurrent.TimeUnit;

/**
 * The way from this node to one node. Belongs to the transport thread.
 */
abstract class Link {
    /** The result of an attempt to put a frame on its way. */
    enum Outcome {
        /** The frame is on its way, and its part of the tensor is not read any more. */
        SENT,
        /** The window is full or no reader is connected. Try again at a later turn. */
        LATER,
        /** The ring of its ranks is full; messages of others may have room. Try again at a later turn. */
        FULL,
        /** The tensor could not be read; see {@link #readFailure}. Do not try again. */
        UNREADABLE
    }

    private final int node;
    private final long timeoutNanos;
    private final Counters counters;
    private final FrameHook hook;
    private RuntimeException readFailure;
    private boolean outOfReach;
    private long outOfReachSinceNanos;
    private boolean told;
    private String closed;

    Link(int node, long timeoutNanos, Counters counters, FrameHook hook) {
        this.node = node;
        this.timeoutNanos = timeoutNanos;
        this.counters = counters;
        this.hook = hook;
    }

    final int node() {
        return node;
    }

    /** Returns the engine's exception in the last attempt that was {@link Outcome#UNREADABLE}. */
    final RuntimeException readFailure() {
        return readFailure;
    }

    /** Puts the next fragment of a message on its way and advances its position. */
    final Outcome send(SendQueue.Outgoing message, long nowNanos) {
        if (hook.loses(message.id)) {
            message.position = message.byteCount;
            return Outcome.SENT;
        }
        return closed == null ? sendFragment(message, nowNanos) : Outcome.LATER;
    }

    /** Puts credits on their way. */
    final Outcome sendCredit(int epoch, Edge edge, int count, long nowNanos) {
        return closed == null ? putCredit(epoch, edge, count, nowNanos) : Outcome.LATER;
    }

    /** Whether the checksum of a message's frames is not to fit. */
    final boolean damages(SendQueue.Outgoing message) {
        return hook.damages(message.id);
    }

    abstract Outcome sendFragment(SendQueue.Outgoing message, long nowNanos);

    abstract Outcome putCredit(int epoch, Edge edge, int count, long nowNanos);

    /** Passes on what was put on its way and is not under way yet; returns the amount of work. */
    abstract int flush(long nowNanos);

    /** Tensors of messages before an epoch are not read any more. */
    abstract void withdraw(int epoch);

    /** The tensor of a message is not read any more. */
    void forget(SendQueue.Outgoing message) {
        // It was copied when it was sent.
    }

    /** Whether a device copies from a tensor. */
    boolean awaitsEngine() {
        return false;
    }

    /** A part of a message has left. */
    final Outcome left(SendQueue.Outgoing message, int length) {
        message.position += length;
        sentBytes(length);
        return Outcome.SENT;
    }

    /** Bytes have left. */
    final void sentBytes(int length) {
        counters.sentBytes(length);
    }

    final Outcome unreadable(RuntimeException failure) {
        readFailure = failure;
        return Outcome.UNREADABLE;
    }

    final Outcome backPressured() {
        counters.wasBackPressured();
        return Outcome.LATER;
    }

    final void connected() {
        outOfReach = false;
        told = false;
    }

    final Outcome notConnected(long nowNanos) {
        if (!outOfReach) {
            outOfReach = true;
            outOfReachSinceNanos = nowNanos;
        }
        return Outcome.LATER;
    }

    final Outcome closedFor(String why) {
        closed = why;
        return Outcome.LATER;
    }

    /** Returns a fault of which the ranks have not been told yet, or null; called once per round. */
    final TransportFault newFault(long nowNanos) {
        if (told) {
            return null;
        }
        if (closed != null) {
            told = true;
            return new TransportFault.LinkFault(node, closed);
        }
        if (outOfReach && nowNanos - outOfReachSinceNanos >= timeoutNanos) {
            told = true;
            return new TransportFault.LinkFault(node, "node " + node + " was expected to be connected, but could not be"
                    + " reached for " + TimeUnit.NANOSECONDS.toSeconds(nowNanos - outOfReachSinceNanos)
                    + " seconds; see that it runs and that its address is right");
        }
        return null;
    }

    /** Discards all frames that are under way, read or not: the reader may have died. */
    abstract void close();

    /** Releases what does not end with the client. */
    abstract void release();
}
