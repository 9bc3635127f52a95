package dev.troupe.tokenizer.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** The description of invalid JSON for a user: Jackson's, without its advice to programmers. */
public final class JsonDefect {
    private static final String BYTE_ORDER_MARK = "65279";
    private static final List<Pattern> ADVICE = List.of(Pattern.compile(",? from `[^`]*`"),
            Pattern.compile(" \\(or 'NaN'[^)]*\\)"),
            Pattern.compile(" \\(bound as `[^`]*`\\)"), Pattern.compile(": enable `.*"),
            Pattern.compile(": not allowed as per .*"), Pattern.compile(" \\(not recognized as one since .*"),
            Pattern.compile(" \\(start marker at .*"), Pattern.compile(" \\(through reference chain.*"),
            Pattern.compile(" at \\[Source.*"), Pattern.compile("[:,;]?[^:,;`]*`.*"));

    private JsonDefect() {
    }

    /**
     * Returns the place and the defect, such as {@code line 3, column 7: Unexpected end-of-input in field name}; only the
     * defect if the parser reports no place.
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
        String said = malformed.getOriginalMessage() == null
                ? ""
                : malformed.getOriginalMessage().lines().findFirst().orElse("");
        if (said.contains(BYTE_ORDER_MARK)) {
            return "a byte order mark (U+FEFF), which is invisible: remove it";
        }
        for (Pattern advice : ADVICE) {
            said = advice.matcher(said).replaceAll("");
        }
        if (said.isBlank()) {
            return malformed instanceof JsonMappingException mapping && !mapping.getPath().isEmpty()
                    ? "\"" + pathOf(mapping) + "\" has a value that does not fit"
                    : "not valid JSON";
        }
        return said.strip();
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
