package dev.troupe.store;

import java.util.List;

/** The messages of a store. They may be lost, repeated or overtake each other. Arrays are never changed. */
public sealed interface StoreMessage {
    /** The segment that the message is about. */
    int segment();

    /** A message between servers, which is valid in one epoch. */
    sealed interface OfEpoch extends StoreMessage {
        int epoch();
    }

    /**
     * A gradient of a worker.
     *
     * @param sequence counts the worker's pushes to the segment, from 1
     * @param time the worker's time, from 0; it never falls
     */
    record Push(int segment, int worker, long sequence, long time, KeyRange range, double[] gradient)
            implements
                StoreMessage {
    }

    /** The answer to a push: it is applied on every server of the segment. */
    record Pushed(int segment, long sequence) implements StoreMessage {
    }

    /** The answer to a push that can be no part of an update, with the reason; the worker is wrong. */
    record Refused(int segment, long sequence, String reason) implements StoreMessage {
    }

    /**
     * A request for parameters of a segment.
     *
     * @param ticket distinguishes the worker's requests
     * @param needed the pushes that every key of the range must have of each worker
     */
    record Pull(int segment, int worker, long ticket, KeyRange range, long needed) implements StoreMessage {
    }

    /** The parameters of the range of a pull, with the earliest clock of their keys. */
    record Pulled(int segment, long ticket, double[] values, long clock) implements StoreMessage {
    }

    /** Asks every server for the stamp of its state, when a server becomes the owner of a segment. */
    record Collect(int epoch, int segment) implements OfEpoch {
    }

    /** The stamp of a server's state; null if it has none. */
    record Found(int epoch, int segment, Stamp stamp) implements OfEpoch {
    }

    /** Asks for the state of a segment. */
    record Fetch(int epoch, int segment) implements OfEpoch {
    }

    /** A state, for the owner. */
    record Fetched(int epoch, int segment, SegmentState state) implements OfEpoch {
    }

    /** The state with which a copy begins an epoch; null if it has the state of this stamp. */
    record Install(int epoch, int segment, Stamp stamp, SegmentState state) implements OfEpoch {
    }

    /** A copy has the owner's state. */
    record Installed(int epoch, int segment) implements OfEpoch {
    }

    /** An update, which travels down the chain: the pushes that it adds up. */
    record Apply(int epoch, int segment, Stamp stamp, List<Push> pushes) implements OfEpoch {
    }

    /** The rest of the chain has applied the updates up to this stamp; it travels up the chain. */
    record Applied(int epoch, int segment, Stamp stamp) implements OfEpoch {
    }

    /** A state for a server that joins, before it belongs to the view. */
    record Precopy(int segment, SegmentState state) implements StoreMessage {
    }

    /** A server that joins has a state of the segment. */
    record Precopied(int segment) implements StoreMessage {
    }
}
