package dev.troupe.config.value;

import com.typesafe.config.ConfigOrigin;

/** The origin of a value, as a problem prints it. */
final class Origins {
    private Origins() {
    }

    /** Returns the origin as {@code run.conf:7}, which terminals and editors open, or as plain text. */
    static String of(ConfigOrigin origin) {
        String text = origin.description();
        if (text.startsWith(Sources.DEFAULTS)) {
            return "the default";
        }
        if (text.startsWith(Sources.SETTING + ": ")) {
            return Sources.SETTING; // the command line has no line numbers
        }
        String line = ": " + origin.lineNumber();
        return text.endsWith(line)
                ? text.substring(0, text.length() - line.length()) + ":" + origin.lineNumber()
                : text;
    }
}
