package dev.troupe;

/**
 * A request was wrong: a setting, a file, a directory, this JVM. Nothing was started and nothing was written. The message is
 * the sentence that the command prints if it ends with exit code 2: what was expected, what was found, where, and what to
 * change.
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
