package dev.troupe.model;

import static dev.troupe.weights.Wording.quoted;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.Wording;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** A {@code config.json} as Hugging Face's libraries write one, with refusals that name the file and the key. */
public final class PublishedConfig {
    private static final JsonMapper JSON = JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private final Path file;
    private final JsonNode root;
    private final String titles;

    private PublishedConfig(Path file, JsonNode root, String titles) {
        this.file = file;
        this.root = root;
        this.titles = titles;
    }

    /**
     * Reads a file.
     *
     * @param titles
     *            the families whose models can be used, as a person calls them
     * @throws WeightException
     *             where it is no JSON object
     */
    public static PublishedConfig read(Path file, String titles) {
        try {
            JsonNode root = JSON.readTree(BoundedFile.bytes(file));
            if (!root.isObject()) {
                throw new WeightException(file + " must hold one JSON object, but holds "
                        + (root.isMissingNode() ? "nothing" : quoted(root.toString())));
            }
            return new PublishedConfig(file, root, titles);
        } catch (JsonProcessingException malformed) {
            throw new WeightException(file + " must be JSON with unique keys, but found in line "
                    + (malformed.getLocation() == null ? "1" : malformed.getLocation().getLineNr()) + ": "
                    + malformed.getOriginalMessage().lines().findFirst().orElse(""), malformed);
        } catch (IOException failure) {
            throw new WeightException("cannot read " + file + ": " + Wording.reason(failure), failure);
        }
    }

    /** Whether there is something under a key. */
    public boolean has(String key) {
        return root.has(key);
    }

    /** The value of a key, or a missing node. */
    public JsonNode value(String key) {
        return root.path(key);
    }

    /** A number above zero; {@code absent} where there is none. */
    public double aboveZero(String key, double absent) {
        JsonNode value = root.path(key);
        if (value.isMissingNode()) {
            return absent;
        }
        if (!value.isNumber() || !(value.doubleValue() > 0) || !Double.isFinite(value.doubleValue())) {
            throw refusal(key, "a number above 0");
        }
        return value.doubleValue();
    }

    /** A whole number of at least 1. */
    public int positive(String key) {
        JsonNode value = root.path(key);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 1) {
            throw refusal(key, "a whole number of at least 1");
        }
        return value.intValue();
    }

    /** True or false. */
    public boolean flag(String key, boolean absent) {
        JsonNode value = root.path(key);
        if (value.isMissingNode()) {
            return absent;
        }
        if (!value.isBoolean()) {
            throw refusal(key, "true or false");
        }
        return value.booleanValue();
    }

    /** Refuses a flag that is not as it is computed here; the same stands for none. */
    public void requireFlag(String key, boolean served) {
        if (flag(key, served) != served) {
            throw refusal(key, served + ", as nothing else is computed here");
        }
    }

    /** Refuses a word that is none of those that are computed here. */
    public void requireOneOf(String key, Set<String> served, String absent) {
        JsonNode value = root.path(key);
        if (!served.contains(value.isMissingNode() ? absent : value.asText())) {
            throw refusal(key, "one of " + served.stream().sorted().toList() + ", as nothing else is computed here");
        }
    }

    /** The exception where a key is not as expected. */
    public WeightException refusal(String key, String expected) {
        JsonNode found = root.path(key);
        return new WeightException(file + ": " + key + " must be " + expected + ", but "
                + (found.isMissingNode() ? "is missing" : "found " + quoted(found.toString())) + "; use a " + titles
                + " model that has it so");
    }

    /** The exception where keys do not go together. */
    public WeightException refusal(String sentence) {
        return new WeightException(file + ": " + sentence);
    }
}
