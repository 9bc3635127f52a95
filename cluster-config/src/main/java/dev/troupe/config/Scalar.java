package dev.troupe.config;

import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * One value of a configuration as its text: what it is as a number or a duration, and how a message shows it and the range
 * that it should be in.
 */
final class Scalar {
    private static final Pattern NUMBER = Pattern.compile("[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?");
    private static final int LONGEST_QUOTE = 60;

    private Scalar() {
    }

    /** Returns the number of a value, or NaN where the value is none. */
    static double decimal(ConfigValue value) {
        String text = text(value);
        return text != null && NUMBER.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
    }

    /** Returns the text of a number, or throws {@link NumberFormatException} where the value is none. */
    static String number(ConfigValue value) {
        String text = text(value);
        if (text == null || !NUMBER.matcher(text).matches()) {
            throw new NumberFormatException();
        }
        return text;
    }

    /** Returns a scalar as it was written, or null where the value is no scalar. */
    static String text(ConfigValue value) {
        return switch (value.valueType()) {
            case STRING -> (String) value.unwrapped();
            // Rendering keeps the digits of the source, where unwrapping would round them.
            case NUMBER, BOOLEAN -> value.render();
            case OBJECT, LIST, NULL -> null;
        };
    }

    /** Returns the whole number of a value, or empty where the value is none in the range. */
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

    /** Returns the duration of a value, or null where the value is none in the range. */
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

    /** Returns a value as a message shows it, cut where it is long. */
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
}
