package dev.troupe.wire.way;

import java.lang.foreign.MemorySegment;
import org.agrona.MutableDirectBuffer;

/**
 * The carrier of frames to another process. A sender claims a frame, writes its header and perhaps its payload, and commits
 * it. No call blocks. The defaults suit a one-way carrier that copies each frame at its commit.
 *
 * <p>Thread rule: one thread.
 */
public interface FrameWay extends AutoCloseable {
    /** Returns the most bytes of a payload after a header of {@code headerBytes}. */
    int maxPayload(int headerBytes);

    /** Claims a frame; after {@link Outcome#ACCEPTED}, {@link #commit} or {@link #abort} is next. */
    Outcome tryClaim(int headerBytes, int payloadBytes);

    /** Returns the memory of the header of the claimed frame. */
    MutableDirectBuffer buffer();

    /** Returns the offset of the header in {@link #buffer}. */
    int offset();

    /** Returns the memory for the payload of the claimed frame, to be filled before {@link #commit()}. */
    MemorySegment payload();

    /** Damages the payload's checksum; returns false if this carrier has no checksum of its own. */
    default boolean damage() {
        return false;
    }

    /** Returns whether a payload of this size is written from its owner's memory, without a copy. */
    default boolean readsMemory(int payloadBytes) {
        return false;
    }

    /** Sends the claimed frame, with the bytes in {@link #payload}. Returns as {@link #commit(MemorySegment, long)}. */
    Outcome commit();

    /**
     * Sends the claimed frame, with a part of memory as its payload.
     *
     * @param from the offset of the payload in {@code source}
     * @return {@link Outcome#ACCEPTED} if the memory is no longer read; otherwise the frame is incomplete, and no other may
     *     be sent until {@link #push} returns another outcome than {@link Outcome#BACK_PRESSURED}
     */
    Outcome commit(MemorySegment source, long from);

    /** Takes the claimed frame back. */
    void abort();

    default boolean isWriting() {
        return false;
    }

    /**
     * Continues an incomplete frame.
     *
     * @return {@link Outcome#ACCEPTED} if its payload's memory is no longer read; {@link Outcome#NOT_CONNECTED} if the
     *     connection broke, so that the frame must be sent again
     */
    default Outcome push() {
        return Outcome.ACCEPTED;
    }

    /** Stops reading the payload of an incomplete frame, which its receiver will then refuse. */
    default void withdraw() {
        // The payload was copied at the commit.
    }

    /** Flushes the committed frames; returns whether all have left this process. */
    default boolean flush() {
        return true;
    }

    /** Adopts a new connection, and reads frames of the other side; returns the amount of work. */
    default int poll(FrameReader reader, int mostBytes) {
        return 0;
    }

    boolean isConnected();

    boolean isClosed();

    /** Returns the number of the connection, which changes if frames may have been lost. */
    default int connection() {
        return 0;
    }

    /** Closes the way; committed frames still arrive. */
    @Override
    void close();

    /** Closes the way, and discards unread frames, since their reader may have died. */
    default void revoke() {
        close();
    }
}
