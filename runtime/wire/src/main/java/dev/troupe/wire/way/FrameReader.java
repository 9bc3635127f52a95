package dev.troupe.wire.way;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.agrona.DirectBuffer;

/** The receiver of a connection's frames. Thread rule: the connection's thread. */
public interface FrameReader {
    /**
     * Reports frames that were lost with an earlier connection.
     *
     * @param from the number of lost frames from the other side
     * @param to the number of lost frames to the other side
     */
    void onLost(long from, long to);

    /**
     * Handles a header.
     *
     * @param payloadBytes the size of the payload that follows; 0 for none
     * @return memory of the payload's size to read it into, or {@link MemorySegment#NULL} to skip it
     * @throws IOException if the rest of the connection cannot be trusted; the caller must close the stream
     */
    MemorySegment onHeader(DirectBuffer buffer, int offset, int length, int payloadBytes) throws IOException;

    /** Returns whether to read no more frames for now. */
    default boolean isFull() {
        return false;
    }

    /** Returns whether the memory of the payload being read may still be written to. */
    boolean isWanted();

    /**
     * Handles a payload that was read into memory.
     *
     * @param isWhole whether its checksum is right
     */
    void onPayload(boolean isWhole);
}
