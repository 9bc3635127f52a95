package dev.troupe.look.model;

/**
 * A text that is submitted to a {@link GenerationQueue}, once.
 *
 * <p>Thread rule: any thread.
 */
public final class Submission {
    private final TextRequest request;
    private final TextListener listener;
    private volatile boolean isCancelled;

    public Submission(TextRequest request, TextListener listener) {
        this.request = request;
        this.listener = listener;
    }

    /** Asks for the end of the text. It ends before its next token, or at once if it has not begun. */
    public void cancel() {
        isCancelled = true;
    }

    TextRequest request() {
        return request;
    }

    TextListener listener() {
        return listener;
    }

    boolean isCancelled() {
        return isCancelled;
    }
}
