package dev.troupe.tokenizer.file;

/** The refusal of a tokenizer that cannot be used; the message is one sentence for the user with file and part. */
public final class TokenizerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public TokenizerException(String message) {
        super(message);
    }

    public TokenizerException(String message, Throwable cause) {
        super(message, cause);
    }
}
