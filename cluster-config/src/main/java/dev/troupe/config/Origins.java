package dev.troupe.config;

import com.typesafe.config.ConfigOrigin;

/** Where a value came from, in the words of a problem. */
final class Origins {
    private Origins() {
    }

    /** Returns the origin as {@code run.conf:7}, which terminals and editors open, or as plain text. */
    static String of(ConfigOrigin origin) {
        String text = origin.description();
        if (text.startsWith(Sources.DEFAULTS)) {
            return "the default";
        }
        String line = ": " + origin.lineNumber();
        return text.endsWith(line)
                ? text.substring(0, text.length() - line.length()) + ":" + origin.lineNumber()
                : text;
    }
}
