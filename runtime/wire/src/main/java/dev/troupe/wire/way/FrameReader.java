package dev.troupe.wire.way;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.agrona.DirectBuffer;

/** Takes the frames of a connection. Thread rule: the thread of the connection. */
public interface FrameReader {
    /**
     * A connection before broke with frames on their way.
     *
     * @param from the number of frames from the other side that never arrived
     * @param to the number of frames to the other side that never arrived
     */
    void onLost(long from, long to);

    /**
     * A header has arrived.
     *
     * @param payloadBytes bytes that follow, 0 if there are none
     * @return the memory of the payload, of its size; or {@link MemorySegment#NULL} to read past it
     * @throws IOException if nothing after it can be trusted; the caller must close the stream
     */
    MemorySegment onHeader(DirectBuffer buffer, int offset, int length, int payloadBytes) throws IOException;

    /** Whether no frame is to be read for now. */
    default boolean isFull() {
        return false;
    }

    /** Whether the memory of the payload that is being read may still be written to. */
    boolean isWanted();

    /**
     * A payload that was not read past is there.
     *
     * @param isWhole whether it fits its checksum
     */
    void onPayload(boolean isWhole);
}
