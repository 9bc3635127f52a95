package dev.troupe.snapshot.aeron;

import org.agrona.MutableDirectBuffer;

/** The way of copies to another process. Belongs to the copying thread. */
interface CopyStream extends AutoCloseable {
    /** The result of an attempt to begin a frame. */
    enum Room {
        /** The frame may be written; {@link #commit} or {@link #abort} is next. */
        THERE,
        /** The receiver has not read enough yet: try again. */
        LATER,
        /** No receiver is connected, or the one that had a part of the copy is not any more. */
        UNHEARD,
        /** The way takes no frames any more. */
        CLOSED
    }

    /** Whether a receiver is connected. */
    boolean isConnected();

    /** The most bytes of a frame's payload. */
    int mostPayload();

    /** Begins a frame of {@link CopyFrame#HEADER_BYTES} and a payload. */
    Room begin(int payloadBytes);

    /** The memory of the frame that was begun. */
    MutableDirectBuffer buffer();

    /** The place of that frame in {@link #buffer}. */
    int offset();

    /** Sends the frame that was begun. */
    void commit();

    /** Takes the frame back that was begun. */
    void abort();

    /** Passes on the frames that were sent, and hears of the receiver's end; returns the amount of work. */
    int flush();

    @Override
    void close();
}
