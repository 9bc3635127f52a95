package dev.troupe.weights;

import static dev.troupe.weights.Wording.quoted;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.DataType;
import dev.troupe.model.spec.ModelConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/**
 * A {@code config.json} of {@code GPT2LMHeadModel}. What would change the arithmetic and is not computed here is
 * refused: any form of attention or GELU but the published one, and an MLP whose inner width is not 4 times the model's.
 * Dropout is not: the published configurations ask for 0.1, which is a way to train and no part of the model; here
 * {@code training.dropout} says it.
 */
final class ModelConfigFile {
    private static final Set<String> TANH_GELU = Set.of("gelu_new", "gelu_pytorch_tanh");
    private static final int PUBLISHED_VOCABULARY = 50257;
    private static final int PUBLISHED_END_OF_TEXT = 50256;
    private static final JsonMapper JSON = JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Path file;
    private final JsonNode root;

    private ModelConfigFile(Path file, JsonNode root) {
        this.file = file;
        this.root = root;
    }

    /** Reads a configuration, or says in a {@link WeightException} what of it is not served. */
    static ModelConfig read(Path file) {
        return new ModelConfigFile(file, parse(file)).config();
    }

    /** The text that {@code transformers} reads as the same model. */
    static byte[] write(ModelConfig config, DataType type) throws JsonProcessingException {
        ObjectNode json = JSON.createObjectNode();
        json.put("model_type", "gpt2");
        json.putArray("architectures").add("GPT2LMHeadModel");
        json.put("n_layer", config.layers());
        json.put("n_embd", config.hidden());
        json.put("n_head", config.heads());
        json.put("n_positions", config.sequenceLength());
        json.put("n_ctx", config.sequenceLength());
        json.putNull("n_inner");
        json.put("vocab_size", config.vocabularySize());
        json.put("layer_norm_epsilon", config.normEpsilon());
        json.put("activation_function", "gelu_new");
        json.put("tie_word_embeddings", config.tiedEmbeddings());
        json.put("resid_pdrop", 0.0);
        json.put("embd_pdrop", 0.0);
        json.put("attn_pdrop", 0.0);
        json.put("initializer_range", 0.02);
        json.put("torch_dtype", type == DataType.FLOAT64 ? "float64" : "float32");
        // Left out, transformers would take 50256 for both, which a smaller vocabulary does not have.
        if (config.vocabularySize() < PUBLISHED_VOCABULARY) {
            json.putNull("bos_token_id");
            json.putNull("eos_token_id");
        } else {
            json.put("bos_token_id", PUBLISHED_END_OF_TEXT);
            json.put("eos_token_id", PUBLISHED_END_OF_TEXT);
        }
        return JSON.writeValueAsBytes(json);
    }

    private static JsonNode parse(Path file) {
        try {
            JsonNode root = JSON.readTree(Files.readAllBytes(file));
            if (!root.isObject()) {
                throw new WeightException(file + " must hold one JSON object, but holds "
                        + (root.isMissingNode() ? "nothing" : quoted(root.toString())));
            }
            return root;
        } catch (JsonProcessingException malformed) {
            throw new WeightException(file + " must be JSON with unique keys, but found in line "
                    + (malformed.getLocation() == null ? "1" : malformed.getLocation().getLineNr()) + ": "
                    + malformed.getOriginalMessage().lines().findFirst().orElse(""), malformed);
        } catch (IOException failure) {
            throw new WeightException("cannot read " + file + ": " + Wording.reason(failure), failure);
        }
    }

    private ModelConfig config() {
        String modelType = root.path("model_type").asText("");
        if (!modelType.equals("gpt2")) {
            throw refusal("model_type", "\"gpt2\"", root.path("model_type"));
        }
        requireOneOf("activation_function", TANH_GELU, "gelu_new");
        requireFlag("scale_attn_weights", true);
        requireFlag("scale_attn_by_inverse_layer_idx", false);
        requireFlag("add_cross_attention", false);
        int layers = positive("n_layer");
        int hidden = positive("n_embd");
        int heads = positive("n_head");
        int vocabularySize = positive("vocab_size");
        if (hidden % heads != 0) {
            throw new WeightException(
                    file + ": n_embd must divide by n_head, but found " + hidden + " and " + heads);
        }
        JsonNode inner = root.path("n_inner");
        if (!inner.isMissingNode() && !inner.isNull() && inner.asLong(-1) != 4L * hidden) {
            throw refusal("n_inner", "null or 4 x n_embd = " + 4L * hidden, inner);
        }
        boolean tied = flag("tie_word_embeddings", true);
        return new ModelConfig(layers, hidden, heads, positions(), vocabularySize, tied, epsilon());
    }

    private int positions() {
        if (!root.has("n_positions") && root.has("n_ctx")) {
            return positive("n_ctx");
        }
        int positions = positive("n_positions");
        if (root.has("n_ctx") && positive("n_ctx") != positions) {
            throw refusal("n_ctx", "n_positions = " + positions, root.path("n_ctx"));
        }
        return positions;
    }

    private double epsilon() {
        JsonNode epsilon = root.path("layer_norm_epsilon");
        if (epsilon.isMissingNode()) {
            return ModelConfig.NORM_EPSILON;
        }
        if (!epsilon.isNumber() || !(epsilon.doubleValue() > 0) || !Double.isFinite(epsilon.doubleValue())) {
            throw refusal("layer_norm_epsilon", "a number above 0", epsilon);
        }
        return epsilon.doubleValue();
    }

    private int positive(String key) {
        JsonNode value = root.path(key);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 1) {
            throw refusal(key, "a whole number of at least 1", value);
        }
        return value.intValue();
    }

    private boolean flag(String key, boolean absent) {
        JsonNode value = root.path(key);
        if (value.isMissingNode()) {
            return absent;
        }
        if (!value.isBoolean()) {
            throw refusal(key, "true or false", value);
        }
        return value.booleanValue();
    }

    private void requireFlag(String key, boolean served) {
        if (flag(key, served) != served) {
            throw refusal(key, served + ", as nothing else is computed here", root.path(key));
        }
    }

    private void requireOneOf(String key, Set<String> served, String absent) {
        JsonNode value = root.path(key);
        if (!served.contains(value.isMissingNode() ? absent : value.asText())) {
            throw refusal(key, "one of " + served.stream().sorted().toList() + ", as nothing else is computed here",
                    value);
        }
    }

    private WeightException refusal(String key, String expected, JsonNode found) {
        return new WeightException(file + ": " + key + " must be " + expected + ", but "
                + (found.isMissingNode() ? "is missing" : "found " + quoted(found.toString()))
                + "; use a GPT-2 model that has it so");
    }
}
