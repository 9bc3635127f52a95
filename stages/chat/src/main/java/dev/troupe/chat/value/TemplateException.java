package dev.troupe.chat.value;

/**
 * The refusal of a template that cannot be read, or the refusal of a chat by a template; the message is a short sentence,
 * with the line if it is known.
 */
public final class TemplateException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int LONGEST = 400;

    private final int line;

    private TemplateException(int line, String message) {
        super(message, null, false, false);
        this.line = line;
    }

    /** Creates an error with an unknown place. */
    public TemplateException(String message) {
        this(0, message.length() > LONGEST ? message.substring(0, LONGEST) + "..." : message);
    }

    public static TemplateException inLine(int line, String message) {
        return new TemplateException(message).at(line);
    }

    /** Returns the same error with its line; an error that has a line keeps it. */
    public TemplateException at(int where) {
        return line > 0 ? this : new TemplateException(where, getMessage());
    }

    /** Returns the line, from 1; 0 if it is not known. */
    public int line() {
        return line;
    }
}
