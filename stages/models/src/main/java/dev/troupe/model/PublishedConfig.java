package dev.troupe.model;

import static dev.troupe.weights.Wording.quoted;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.JsonDefect;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A {@code config.json} of Hugging Face's libraries, with refusals that name the file and the key. It remembers the keys
 * that were read, so that an unknown key can be named. One thread.
 */
public final class PublishedConfig {
    /** NaN and infinity are numbers, as in Python's JSON. */
    private static final JsonMapper JSON = JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private final Path file;
    private final ObjectNode root;
    /** Keys that occur twice in the file, with both values: Python takes the last. */
    private final Map<String, List<JsonNode>> twice;
    private final String titles;
    private final Set<String> asked = new HashSet<>();

    private PublishedConfig(Path file, ObjectNode root, Map<String, List<JsonNode>> twice, String titles) {
        this.file = file;
        this.root = root;
        this.twice = twice;
        this.titles = titles;
    }

    /**
     * Reads a file.
     *
     * @param titles the names of the supported families, for a message
     * @throws WeightException if it is no JSON object
     */
    public static PublishedConfig read(Path file, String titles) {
        try {
            byte[] bytes = BoundedFile.bytes(file);
            ObjectNode root = JSON.createObjectNode();
            Map<String, List<JsonNode>> twice = new LinkedHashMap<>();
            try (JsonParser parser = JSON.createParser(bytes)) {
                if (parser.nextToken() != JsonToken.START_OBJECT) {
                    JsonNode other = JSON.readTree(bytes);
                    throw new WeightException(file + " must hold one JSON object, but holds "
                            + (other.isMissingNode() ? "nothing" : quoted(other.toString())));
                }
                while (parser.nextToken() == JsonToken.FIELD_NAME) {
                    String key = parser.currentName();
                    parser.nextToken();
                    JsonNode value = JSON.reader().without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                            .readTree(parser);
                    JsonNode former = root.replace(key, value);
                    if (former != null && !former.equals(value)) {
                        twice.put(key, List.of(former, value));
                    }
                }
                if (parser.nextToken() != null) {
                    throw new WeightException(file + " must hold one JSON object, but more follows it in line "
                            + parser.currentLocation().getLineNr());
                }
            }
            return new PublishedConfig(file, root, twice, titles);
        } catch (JsonProcessingException malformed) {
            throw new WeightException(file + " must be JSON with unique keys: "
                    + JsonDefect.of(malformed), malformed);
        } catch (IOException failure) {
            throw new WeightException("cannot read " + file + ": " + FileReason.of(failure), failure);
        }
    }

    public PublishedConfig with(String key, boolean value) {
        return new PublishedConfig(file, root.deepCopy().put(key, value), twice, titles);
    }

    public boolean has(String key) {
        return !value(key).isMissingNode();
    }

    /** Returns whether the key is present, and its value not null. */
    public boolean isGiven(String key) {
        return has(key) && !value(key).isNull();
    }

    /**
     * Returns the value of a key, or a missing node.
     *
     * @throws WeightException if the file has the key twice, with two values
     */
    public JsonNode value(String key) {
        asked.add(key);
        if (twice.containsKey(key)) {
            throw new WeightException(file + " must have " + key + " once, but has it as "
                    + twice.get(key).getFirst() + " and as " + twice.get(key).getLast() + "; take one of them out");
        }
        return root.path(key);
    }

    /** Returns the keys that were not read although they have an effect: not null, false, 0 or empty. */
    public List<String> unread() {
        return root.propertyStream().filter(entry -> !asked.contains(entry.getKey()) && says(entry.getValue()))
                .map(Map.Entry::getKey).toList();
    }

    private static boolean says(JsonNode value) {
        return !value.isNull() && !(value.isBoolean() && !value.booleanValue())
                && !(value.isNumber() && value.doubleValue() == 0)
                && !((value.isContainerNode() || value.isTextual()) && value.asText().isEmpty() && value.isEmpty());
    }

    /** Returns a number above zero; {@code absent} if there is none. */
    public double aboveZero(String key, double absent) {
        JsonNode value = value(key);
        if (value.isMissingNode()) {
            return absent;
        }
        if (!value.isNumber() || !(value.doubleValue() > 0) || !Double.isFinite(value.doubleValue())) {
            throw refusal(key, "a number above 0");
        }
        return value.doubleValue();
    }

    /** Returns a whole number of at least 1. */
    public int positive(String key) {
        JsonNode value = value(key);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 1) {
            throw refusal(key, "a whole number of at least 1");
        }
        return value.intValue();
    }

    /** Returns a whole number of at least 0; {@code absent} if there is none. */
    public int notNegative(String key, int absent) {
        JsonNode value = value(key);
        if (value.isMissingNode()) {
            return absent;
        }
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
            throw refusal(key, "a whole number of at least 0");
        }
        return value.intValue();
    }

    public boolean flag(String key, boolean absent) {
        JsonNode value = value(key);
        if (value.isMissingNode()) {
            return absent;
        }
        if (!value.isBoolean()) {
            throw refusal(key, "true or false");
        }
        return value.booleanValue();
    }

    /** Refuses a flag with another value than the supported one, which is also the default. */
    public void requireFlag(String key, boolean served) {
        if (flag(key, served) != served) {
            throw refusal(key, served + ", as nothing else is computed here");
        }
    }

    /** Refuses a word that is not supported. */
    public void requireOneOf(String key, Set<String> served, String absent) {
        JsonNode value = value(key);
        if (!served.contains(value.isMissingNode() ? absent : value.asText())) {
            throw refusal(key, "one of " + served.stream().sorted().toList() + ", as nothing else is computed here");
        }
    }

    public WeightException refusal(String key, String expected) {
        JsonNode found = value(key);
        return new WeightException(file + ": " + key + " must be " + expected + ", but "
                + (found.isMissingNode() ? "is missing" : "found " + quoted(found.toString())) + "; use a " + titles
                + " model that has it so");
    }

    /** Returns the exception for keys that contradict each other. */
    public WeightException refusal(String sentence) {
        return new WeightException(file + ": " + sentence);
    }
}
