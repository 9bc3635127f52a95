package dev.troupe.transport;

/**
 * The choice of messages that are lost or damaged on their way: none, unless faults are injected. Called on the transport's
 * thread.
 */
public interface FrameHook {
    /** Leaves every message as it is. */
    FrameHook NONE = new FrameHook() {
        @Override
        public boolean loses(MessageId message) {
            return false;
        }

        @Override
        public boolean damages(MessageId message) {
            return false;
        }
    };

    /** Whether the frames of a message are lost, as on a bad network: its sender counts them as sent. */
    boolean loses(MessageId message);

    /** Whether the frames of a message leave with a checksum that does not fit. */
    boolean damages(MessageId message);
}
