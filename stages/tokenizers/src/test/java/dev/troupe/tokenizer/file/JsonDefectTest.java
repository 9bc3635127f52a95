package dev.troupe.tokenizer.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonDefectTest {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
                    DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
    /** Words for programmers, and names of Jackson and Java. */
    private static final Pattern FOREIGN = Pattern.compile("com\\.|java\\.|dev\\.|[Cc]annot (con|de)|\\bcode \\d|"
            + "START_|END_|VALUE_|FIELD_|Object\\b|Array\\b|String\\b|was expecting|marker|creator|coerce|Exception|"
            + "Feature|[Ss]ource|chain|\\btoken\\b|Unexpected|Unrecognized|JSON spec");

    enum Colour {
        RED, BLUE
    }

    record Inner(@JsonProperty(required = true) int count, @JsonProperty(required = true) Colour colour) {
    }

    record Sample(@JsonProperty(required = true) String name, @JsonProperty(required = true) double size,
            @JsonProperty(required = true) List<Inner> inner) {
        Sample {
            if (size < 0) {
                throw new IllegalArgumentException("a size is 0 or more");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '^', value = {"{\"a\": 1!line 1, column 8: the text ends too early",
            "{\"a\": \"b!line 1, column 9: the text ends too early", "!line 1, column 1: the text ends too early",
            "{\"a\": 1]!line 1, column 8: found ] instead of }", "{\"a\": x1}!line 1, column 7: \"x1\" is no value",
            "{\"a\": NaN}!line 1, column 10: \"NaN\" is no value",
            "{a: 1}!line 1, column 2: the character a is not allowed here",
            "{\"a\": 1,}!line 1, column 9: the character } is not allowed here",
            "{\"a\": é}!line 1, column 7: \"é\" is no value",
            "\uFEFF{}!line 1, column 1: a byte order mark (U+FEFF), which is invisible: remove it",
            "{\"a\": 01}!line 1, column 8: a number must not begin with 0",
            "{\"a\": 1.}!line 1, column 8: the character } is not allowed here",
            "{\"a\": 1e}!line 1, column 8: the character } is not allowed here",
            "{\"a\": \"\\q\"}!line 1, column 9: the escape of q does not exist",
            "{\"a\": \"\t\"}!line 1, column 8: the control character U+0009 in a text must be escaped",
            "{\"a\": 1, \"a\": 2}!line 1, column 13: \"a\" is given twice",
            "{} {}!line 1, column 4: more follows after the value"})
    void shouldDescribeTextThatIsNoJson(String text, String expected) {
        String given = text == null ? "" : text;
        JsonProcessingException malformed = assertThrows(JsonProcessingException.class,
                () -> JSON.readValue(given, Object.class));
        assertEquals(expected, JsonDefect.of(malformed));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '^', value = {"{}!\"name\" is missing",
            "{\"name\": null, \"size\": 1, \"inner\": []}!\"name\" must not be null",
            "{\"name\": \"a\", \"size\": \"b\", \"inner\": []}!\"size\" must be a number",
            "{\"name\": \"a\", \"size\": 1, \"inner\": {}}!\"inner\" must be a list",
            "{\"name\": \"a\", \"size\": 1, \"inner\": [3]}!\"inner[0]\" must be an object",
            "{\"name\": \"a\", \"size\": -1, \"inner\": []}!a size is 0 or more",
            "{\"name\": {}, \"size\": 1, \"inner\": []}!\"name\" must be a text",
            "{\"name\": \"a\", \"size\": 1, \"inner\": [], \"more\": 1}!\"more\" is unknown",
            "{\"name\": \"a\", \"size\": 1, \"inner\": [{\"count\": [], \"colour\": \"RED\"}]}!\"inner[0].count\" must be a whole number",
            "{\"name\": \"a\", \"size\": 1, \"inner\": [{\"count\": 1, \"colour\": \"x\"}]}!\"inner[0].colour\" must be one of [RED, BLUE]",
            "[]!not valid JSON"})
    void shouldDescribeAValueThatDoesNotFit(String text, String expected) {
        assertEquals(expected, JsonDefect.wordsOf(
                assertThrows(JsonProcessingException.class, () -> JSON.readValue(text, Sample.class))));
    }

    @Test
    void shouldNotQuoteTheLibraryWhateverIsWrong() throws Exception {
        byte[] sound = "{\"name\": \"a\\u0041\", \"size\": -12.5e3, \"inner\": [{\"count\": 17, \"colour\": \"RED\"}, null]}\n"
                .getBytes(StandardCharsets.UTF_8);
        byte[] signs = "{}[]\":,\\/ \t0-+.eEnNtfaI'#\u0001\u007f\u00e9\uFEFF".getBytes(StandardCharsets.UTF_8);
        Random random = new Random(42);
        for (int trial = 0; trial < 20_000; trial++) {
            byte[] text = sound.clone();
            int length = text.length;
            for (int change = random.nextInt(3); change >= 0; change--) {
                switch (random.nextInt(3)) {
                    case 0 -> text[random.nextInt(text.length)] = signs[random.nextInt(signs.length)];
                    case 1 -> text[random.nextInt(text.length)] = (byte) random.nextInt(256);
                    default -> length = random.nextInt(length + 1);
                }
            }
            try {
                JSON.readValue(text, 0, length, Sample.class);
            } catch (JsonProcessingException malformed) {
                String words = JsonDefect.of(malformed);
                assertFalse(FOREIGN.matcher(words).find(), () -> words);
            }
        }
    }
}
