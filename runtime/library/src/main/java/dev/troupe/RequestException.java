package dev.troupe;

/**
 * The refusal of a wrong request: a setting, a file, a directory, or this JVM. Nothing was started or written. The message
 * is the sentence that the command prints with exit code 2: the expectation, the finding, its place, and the remedy.
 */
public final class RequestException extends RuntimeException {
    private static final long serialVersionUID = 1;

    RequestException(String sentence) {
        super(sentence);
    }

    RequestException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
