package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import java.lang.foreign.MemorySegment;

/** The way from a member to others: one stream, or one connection. One thread. */
interface Route extends AutoCloseable {
    /**
     * Sends a frame with a part of memory. Where this returns false, there is no room yet, and perhaps a part of the frame
     * has left: the caller must repeat the call before it sends any other frame this way. Where it returns true, the
     * memory is not read any more.
     */
    boolean put(SegmentFrame.Kind kind, int epoch, long sequence, Call call, int root, MemorySegment source, long at,
            int bytes, long offset, int to);

    /**
     * Sends the last frame of this member, in place of one whose call would be repeated. Where this returns false there is
     * no room yet; where it returns true the frame is on its way, or nobody is there to read it.
     */
    boolean putEnd(int epoch, long sequence, Call call, int root, MemorySegment text);

    /** Passes on the frames that were sent and are still here; returns whether none is. */
    boolean flush();

    /** Whether no frame will be sent or received. */
    boolean isClosed();

    @Override
    void close();
}
