package dev.troupe.config.value;

import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import dev.troupe.config.problem.KnownKeys;
import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/** The conversions of one value of a configuration: to a number, a duration, a path, and the text that a message shows. */
final class Scalar {
    private static final Pattern NUMBER = Pattern.compile("[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?");
    private static final int LONGEST_QUOTE = 60;
    private static final int FARTHEST_WORD = 2;

    private Scalar() {
    }

    /** Returns the number of a value, or NaN if it is none. */
    static double decimal(ConfigValue value) {
        String text = text(value);
        return text != null && NUMBER.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
    }

    /** Returns the text of a number, or throws {@link NumberFormatException} if the value is none. */
    static String number(ConfigValue value) {
        String text = text(value);
        if (text == null || !NUMBER.matcher(text).matches()) {
            throw new NumberFormatException();
        }
        return text;
    }

    /** Returns a scalar as it was written, or null if the value is no scalar. */
    static String text(ConfigValue value) {
        return switch (value.valueType()) {
            case STRING -> (String) value.unwrapped();
            // Rendering keeps the digits of the source; unwrapping would round them.
            case NUMBER, BOOLEAN -> value.render();
            case OBJECT, LIST, NULL -> null;
        };
    }

    /** Returns the whole number of a value, or empty if the value is none in the range. */
    static OptionalInt whole(ConfigValue value, int minimum, int maximum) {
        try {
            BigDecimal number = new BigDecimal(number(value));
            if (number.compareTo(BigDecimal.valueOf(minimum)) >= 0
                    && number.compareTo(BigDecimal.valueOf(maximum)) <= 0) {
                return OptionalInt.of(number.intValueExact());
            }
        } catch (ArithmeticException | NumberFormatException notWhole) {
            // The caller reports every wrong number.
        }
        return OptionalInt.empty();
    }

    /** Returns the duration of a value, or null if the value is none in the range. */
    static Duration duration(ConfigValue value, Duration minimum, Duration maximum) {
        try {
            // HOCON reads a bare number as milliseconds, which the user hardly ever means.
            if (value.valueType() == ConfigValueType.STRING && !NUMBER.matcher(text(value)).matches()) {
                Duration duration = value.atKey("duration").getDuration("duration");
                if (duration.compareTo(minimum) >= 0 && duration.compareTo(maximum) <= 0) {
                    return duration;
                }
            }
        } catch (com.typesafe.config.ConfigException noDuration) {
            // The caller reports every wrong duration.
        }
        return null;
    }

    /** Returns the bytes of a size, or -1 if the value is none. */
    static long bytes(ConfigValue value) {
        try {
            return value.atKey("size").getBytes("size");
        } catch (com.typesafe.config.ConfigException noSize) {
            return -1; // the caller reports every wrong size
        }
    }

    /** Returns a value as a message shows it, cut if it is long. */
    static String show(ConfigValue value) {
        return switch (value.valueType()) {
            case OBJECT -> "a section";
            case LIST -> shorten(value.render(ConfigRenderOptions.concise()));
            case STRING -> quote((String) value.unwrapped());
            case NUMBER, BOOLEAN -> shorten(text(value));
            case NULL -> "null";
        };
    }

    /** Every value of the command line is text, but a number is shown without quotes. */
    private static String quote(String text) {
        return NUMBER.matcher(text).matches() ? shorten(text) : '"' + shorten(text) + '"';
    }

    private static String shorten(String text) {
        String line = text.replaceAll("\\p{Cntrl}", " ");
        return line.length() <= LONGEST_QUOTE ? line : line.substring(0, LONGEST_QUOTE) + "...";
    }

    static String range(Duration minimum, Duration maximum) {
        return "from " + minimum.toMillis() + "ms to " + maximum.toHours() + "h";
    }

    static String range(int minimum, int maximum) {
        return "from " + minimum + " to " + maximum;
    }

    /** Returns the absolute path of a text, or null if it is none. */
    static Path path(String text) {
        try {
            return text == null ? null : Path.of(text).toAbsolutePath();
        } catch (InvalidPathException noPath) {
            return null;
        }
    }

    /** Returns the question whether a similar word was meant; empty if there is none. */
    static Optional<String> near(String text, List<String> words) {
        return words.stream().filter(word -> text != null && KnownKeys.distance(text, word) <= FARTHEST_WORD)
                .findFirst().map(word -> "did you mean " + word + "?");
    }
}
