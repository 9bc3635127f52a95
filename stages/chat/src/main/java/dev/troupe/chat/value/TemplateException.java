package dev.troupe.chat.value;

/**
 * A template that cannot be read, or that refuses a chat; the message is a short sentence, with the line if it is
 * known.
 */
public final class TemplateException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int LONGEST = 400;

    private final int line;

    private TemplateException(int line, String message) {
        super(message, null, false, false);
        this.line = line;
    }

    /** An error of a place that is not known here. */
    public TemplateException(String message) {
        this(0, message.length() > LONGEST ? message.substring(0, LONGEST) + "..." : message);
    }

    /** An error in a line. */
    public static TemplateException inLine(int line, String message) {
        return new TemplateException(message).at(line);
    }

    /** The same error with its line; an error that has a line keeps it. */
    public TemplateException at(int where) {
        return line > 0 ? this : new TemplateException(where, getMessage());
    }

    /** The line, from 1; 0 if it is not known. */
    public int line() {
        return line;
    }
}
