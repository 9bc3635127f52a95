package dev.troupe.weights;

/** The wording of file content in messages. */
public final class Wording {
    private static final int LONGEST = 100;

    private Wording() {
    }

    /** Returns text from a file, in quotes, short, and without characters that would break a line or a terminal. */
    public static String quoted(String text) {
        String start = text.length() > LONGEST ? text.substring(0, LONGEST) + "..." : text;
        StringBuilder shown = new StringBuilder("\"");
        start.chars().forEach(c -> shown.append(Character.isISOControl(c) || Character.isSurrogate((char) c)
                ? '?'
                : (char) c));
        return shown.append('"').toString();
    }
}
