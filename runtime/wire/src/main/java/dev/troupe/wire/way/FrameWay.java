package dev.troupe.wire.way;

import java.lang.foreign.MemorySegment;
import org.agrona.MutableDirectBuffer;

/**
 * A way for frames to another process. A sender claims a frame, writes its header and perhaps its payload, and commits it.
 * No call waits. The defaults suit a carrier that copies each frame when it is committed, and goes one way.
 *
 * <p>Thread rule: one thread.
 */
public interface FrameWay extends AutoCloseable {
    /** Returns the most bytes of a payload after a header of a size. */
    int maxPayload(int headerBytes);

    /** Claims a frame; after {@link Outcome#ACCEPTED}, {@link #commit} or {@link #abort} is next. */
    Outcome tryClaim(int headerBytes, int payloadBytes);

    /** Returns the memory of the header of the claimed frame. */
    MutableDirectBuffer buffer();

    /** Returns the place of the header in {@link #buffer}. */
    int offset();

    /** Returns the memory for the payload of the claimed frame, to be filled before {@link #commit()}. */
    MemorySegment payload();

    /** Makes the payload's checksum wrong; returns false if the way has no checksum of its own. */
    default boolean damage() {
        return false;
    }

    /** Whether a payload of a size is written from the memory of its owner, without a copy. */
    default boolean readsMemory(int payloadBytes) {
        return false;
    }

    /** Sends the claimed frame, with the bytes in {@link #payload}. Returns as {@link #commit(MemorySegment, long)}. */
    Outcome commit();

    /**
     * Sends the claimed frame, with a part of memory as its payload.
     *
     * @param from the first byte of that part
     * @return {@link Outcome#ACCEPTED} if the memory is not read any more; otherwise a part of the frame is still here: no
     *     other may be sent before {@link #push} has returned something else than {@link Outcome#BACK_PRESSURED}
     */
    Outcome commit(MemorySegment source, long from);

    /** Takes the claimed frame back. */
    void abort();

    /** Whether a frame has been committed in part, and {@link #push} has not returned its end. */
    default boolean isWriting() {
        return false;
    }

    /**
     * Continues the frame that was committed in part.
     *
     * @return {@link Outcome#ACCEPTED} if the memory of its payload is not read any more; {@link Outcome#NOT_CONNECTED} if
     *     the connection broke, so that the frame has to be sent again
     */
    default Outcome push() {
        return Outcome.ACCEPTED;
    }

    /** Reads the payload of the frame that was committed in part no further: its receiver will refuse it. */
    default void withdraw() {
        // It was copied when it was committed.
    }

    /** Passes on the frames that were committed; returns whether none is left in this process. */
    default boolean flush() {
        return true;
    }

    /** Takes a new connection, and reads frames of the other side, if there are any; returns the amount of work. */
    default int poll(FrameReader reader, int mostBytes) {
        return 0;
    }

    boolean isConnected();

    /** Whether no frame can be sent any more. */
    boolean isClosed();

    /** Returns the number of the connection, which changes if frames may have been lost. */
    default int connection() {
        return 0;
    }

    /** Ends the way; the frames that it has taken arrive. */
    @Override
    void close();

    /** Ends the way, and discards the frames that have not been read: the reader may have died. */
    default void revoke() {
        close();
    }
}
