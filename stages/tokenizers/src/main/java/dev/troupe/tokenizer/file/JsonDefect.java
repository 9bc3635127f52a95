package dev.troupe.tokenizer.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The description of invalid JSON for a user. Jackson's own is for programmers, so only the kind is taken from it. */
public final class JsonDefect {
    private static final String NO_JSON = "not valid JSON";
    private static final int LONGEST_NAME = 40;
    private static final int BYTE_ORDER_MARK = 0xFEFF;

    /** The descriptions by the beginnings of Jackson's, the first match first. */
    private static final Map<Pattern, Function<MatchResult, String>> KINDS = new LinkedHashMap<>();

    static {
        kind("Unexpected end-of-input|No content to map", _ -> "the text ends too early");
        kind("Unexpected close marker '(.)': expected '(.)'", found -> "found " + found.group(1) + " instead of "
                + found.group(2));
        kind("Illegal unquoted character \\(.*code (\\d+)\\)",
                found -> "the control character " + character(found) + " in a text must be escaped");
        kind("Unrecognized character escape '?.*?\\(?code (\\d+)\\)?",
                found -> "the escape of " + character(found) + " does not exist");
        kind("Unexpected character \\(.*?code (\\d+)[^)]*\\)",
                found -> Integer.parseInt(found.group(1)) == BYTE_ORDER_MARK
                        ? "a byte order mark (U+FEFF), which is invisible: remove it"
                        : "the character " + character(found) + " is not allowed here");
        kind("Illegal character \\(.*code (\\d+)\\)",
                found -> "the control character " + character(found) + " is not allowed");
        kind("(?:Unrecognized token|Non-standard token) '([^']*)'", found -> name(found) + " is no value");
        kind("Duplicate field '(.*)'$", found -> name(found) + " is given twice");
        kind("(?:Missing required creator property|Missing creator property) '([^']*)'", found -> name(found)
                + " is missing");
        kind("Null value for creator property '([^']*)'", found -> name(found) + " must not be null");
        kind("Invalid numeric value: Leading zeroes", _ -> "a number must not begin with 0");
        kind("Numeric value .*out of range", _ -> "a number is too large");
        kind("Invalid UTF-?(8|16|32)", _ -> "it is not UTF-8 text");
        kind("Trailing token", _ -> "more follows after the value");
        kind("Document nesting depth \\(\\d+\\) exceeds the maximum allowed \\((\\d+)",
                found -> "more than " + found.group(1) + " levels of nesting");
        kind("String value length \\(\\d+\\) exceeds the maximum allowed \\((\\d+)",
                found -> "a text has more than " + found.group(1) + " characters");
        kind("Number value length \\(\\d+\\) exceeds the maximum allowed \\((\\d+)",
                found -> "a number has more than " + found.group(1) + " digits");
        kind("Name length \\(\\d+\\) exceeds the maximum allowed \\((\\d+)",
                found -> "a name has more than " + found.group(1) + " characters");
    }

    private JsonDefect() {
    }

    private static void kind(String beginning, Function<MatchResult, String> words) {
        KINDS.put(Pattern.compile(beginning), words);
    }

    /**
     * Returns the place and the defect, such as {@code line 3, column 7: the text ends too early}; only the defect if the
     * parser reports no place.
     */
    public static String of(JsonProcessingException malformed) {
        var place = malformed.getLocation();
        String words = wordsOf(malformed);
        return place == null || place.getLineNr() < 1
                ? words
                : String.format(Locale.ROOT, "line %d, column %d: %s", place.getLineNr(),
                        Math.max(1, place.getColumnNr()), words);
    }

    /** Returns the defect alone, in one line. */
    public static String wordsOf(JsonProcessingException malformed) {
        if (malformed instanceof ValueInstantiationException refused
                && refused.getCause() instanceof IllegalArgumentException reason && reason.getMessage() != null) {
            return reason.getMessage(); // Troupe's own message
        }
        if (malformed instanceof UnrecognizedPropertyException unknown) {
            return '"' + pathOf(unknown) + "\" is unknown";
        }
        String said = malformed.getOriginalMessage() == null
                ? ""
                : malformed.getOriginalMessage().lines().findFirst().orElse("");
        for (var kind : KINDS.entrySet()) {
            Matcher found = kind.getKey().matcher(said);
            if (found.lookingAt()) {
                return kind.getValue().apply(found.toMatchResult());
            }
        }
        return switch (malformed) {
            case MismatchedInputException mapping when !mapping.getPath().isEmpty() -> '"' + pathOf(mapping)
                    + "\" must be " + kindOf(mapping.getTargetType());
            case JsonMappingException mapping when !mapping.getPath().isEmpty() -> '"' + pathOf(mapping)
                    + "\" has a value that does not fit";
            case JsonEOFException _ -> "the text ends too early";
            case StreamConstraintsException _ -> "a part of it is too large";
            default -> NO_JSON;
        };
    }

    private static String kindOf(Class<?> type) {
        if (type == int.class || type == Integer.class || type == long.class || type == Long.class) {
            return "a whole number";
        }
        if (type == double.class || type == Double.class) {
            return "a number";
        }
        if (type != null && type.isEnum()) {
            return "one of " + Arrays.toString(type.getEnumConstants());
        }
        if (type == boolean.class || type == String.class) {
            return type == boolean.class ? "true or false" : "a text";
        }
        return type != null && Collection.class.isAssignableFrom(type) ? "a list" : "an object";
    }

    /** Returns a character of a decimal code, so that an invisible one is seen. */
    private static String character(MatchResult found) {
        int code = Integer.parseInt(found.group(1));
        return code > ' ' && code < 0x7F
                ? Character.toString(code)
                : String.format(Locale.ROOT, "U+%04X", code);
    }

    private static String name(MatchResult found) {
        String name = found.group(1);
        String start = name.length() > LONGEST_NAME ? name.substring(0, LONGEST_NAME) + "..." : name;
        return '"' + start.replaceAll("\\p{Cntrl}", "?") + '"';
    }

    /** Returns the place in the document, such as {@code parts[0].file}. */
    private static String pathOf(JsonMappingException mapping) {
        StringBuilder path = new StringBuilder();
        for (JsonMappingException.Reference step : mapping.getPath()) {
            if (step.getFieldName() == null) {
                path.append('[').append(step.getIndex()).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(step.getFieldName());
            }
        }
        return path.toString();
    }
}
