package dev.troupe.chat.value;

/**
 * A text that the filters {@code safe} and {@code escape} have made: it prints as it is, and what is added to it gets
 * escaped.
 *
 * @param text its characters
 */
public record Markup(String text) {
    /** Writes the signs of HTML as entities. */
    public static Markup escaped(String text) {
        return new Markup(text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;").replace("'", "&#39;")
                .replace("\"", "&#34;"));
    }
}
