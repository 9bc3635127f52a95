package dev.troupe.collective.peer;

import java.lang.foreign.MemorySegment;

/** The frames from another member, on a stream or a connection. One thread. */
interface Source extends AutoCloseable {
    /** The receiver of frames. */
    interface Taker {
        /**
         * Handles a frame.
         *
         * @param memory has the payload from byte {@code at} on, valid during this call
         * @param isPlaced whether the payload is in the memory of {@link #place} instead
         * @return false if the frame is of a later collective, so that it must be offered again
         */
        boolean take(int from, SegmentFrame frame, MemorySegment memory, long at, boolean isPlaced);

        /** Returns the place for the payload of a frame; {@link MemorySegment#NULL} if it has none before {@link #take}. */
        MemorySegment place(int from, SegmentFrame frame);

        /** Reports that frames from or to the other member are lost. */
        void lost(int from, String why);

        /** Reports that the other member is in a later epoch. */
        void overtaken(int itsEpoch);
    }

    /** Handles at most one frame; returns whether bytes have arrived or a frame was taken. */
    boolean receive();

    /** Reads at most one frame ahead, if this unblocks its sender; returns whether bytes have arrived. */
    boolean readAhead();

    @Override
    void close();
}
