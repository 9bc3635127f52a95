package dev.troupe.transport;

/** The injected damage: it selects messages to lose or damage. Called on the transport's thread. */
public interface FrameHook {
    /** No damage. */
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

    /** Returns whether to lose the frames of a message, as a bad network does; they count as sent. */
    boolean loses(MessageId message);

    /** Returns whether to send the frames of a message with wrong checksums. */
    boolean damages(MessageId message);
}
