package dev.troupe.collective.peer;

import java.lang.foreign.MemorySegment;

/** The frames of another member, on its stream or its connection. One thread. */
interface Source extends AutoCloseable {
    /** The member that takes the frames. */
    interface Taker {
        /**
         * Takes a frame.
         *
         * @param memory has the payload from byte {@code at} on, as long as this call
         * @param isPlaced whether the payload is in the memory of {@link #place} instead
         * @return false if it is of a later collective, so that it must be offered again
         */
        boolean take(int from, SegmentFrame frame, MemorySegment memory, long at, boolean isPlaced);

        /** Returns the memory for the payload of a frame; {@link MemorySegment#NULL} if it is to be taken. */
        MemorySegment place(int from, SegmentFrame frame);

        /** Frames of the other member, or those to it, will not arrive any more. */
        void lost(int from, String why);

        /** The other member has the group in a later epoch. */
        void overtaken(int itsEpoch);
    }

    /** Passes at most one frame on; returns whether bytes have arrived, or a frame was taken. */
    boolean receive();

    /** Reads at most one frame ahead, if that makes room for its sender; returns whether bytes have arrived. */
    boolean readAhead();

    @Override
    void close();
}
