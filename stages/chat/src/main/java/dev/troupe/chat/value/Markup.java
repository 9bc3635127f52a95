package dev.troupe.chat.value;

/** A text from the filters {@code safe} and {@code escape}: it prints as it is, and additions to it are escaped. */
public record Markup(String text) {
    /** Writes the signs of HTML as entities. */
    public static Markup escaped(String text) {
        return new Markup(text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;").replace("'", "&#39;")
                .replace("\"", "&#34;"));
    }
}
