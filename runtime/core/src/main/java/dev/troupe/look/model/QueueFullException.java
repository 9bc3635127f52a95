package dev.troupe.look.model;

/** The refusal of a text by a queue that is full or closed. It may be submitted again later. */
public final class QueueFullException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean isClosed;

    QueueFullException(String sentence, boolean isClosed) {
        super(sentence);
        this.isClosed = isClosed;
    }

    /** Returns whether the queue takes no text any more. */
    public boolean isClosed() {
        return isClosed;
    }
}
