package dev.troupe.model.rotary;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Section;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("parity")
class RotaryFamilyTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;

    @Test
    void shouldReadTheKeysOfTransformersFourLikeThoseFromFive() throws Exception {
        ObjectNode older = golden("llama31-rope-scaled");
        ObjectNode parameters = (ObjectNode) older.remove("rope_parameters");
        older.set("rope_theta", parameters.remove("rope_theta"));
        older.set("rope_scaling", parameters);
        assertEquals(read(golden("llama31-rope-scaled")), read(older));
        parameters.set("type", parameters.remove("rope_type"));
        assertEquals(read(golden("llama31-rope-scaled")), read(older));
    }

    /**
     * Base and kind of transformers 5.18 for each pair of keys: a {@code rope_scaling} that is not empty replaces
     * {@code rope_parameters} with its base.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "absent", value = {
            "absent | absent | absent | 10000 | default",
            "absent | absent | 300 | 300 | default",
            "null | {} | 300 | 300 | default",
            "null | {\"rope_type\": \"default\"} | absent | 10000 | default",
            "absent | {\"type\": \"default\", \"rope_theta\": 700} | 300 | 700 | default",
            "absent | LLAMA3 | 300 | 300 | llama3",
            "{\"rope_type\": \"default\", \"rope_theta\": 500} | absent | 300 | 500 | default",
            "{\"rope_type\": \"default\", \"rope_theta\": 500} | null | absent | 500 | default",
            "{\"rope_type\": \"default\", \"rope_theta\": 500} | {} | 300 | 500 | default",
            "{\"rope_type\": \"default\", \"rope_theta\": 500} | {\"rope_type\": \"default\"} | absent | 10000 | default",
            "{\"rope_type\": \"default\", \"rope_theta\": 500} | LLAMA3 | absent | 10000 | llama3",
            "{\"rope_type\": \"default\", \"rope_theta\": 500} | LLAMA3 | 300 | 300 | llama3",
            "LLAMA3 | {\"rope_type\": \"default\"} | 300 | 300 | default",
            "LLAMA3 | {\"type\": \"default\", \"rope_theta\": 700} | 300 | 700 | default",
            "LLAMA3 | absent | 300 | 300 | llama3"})
    void shouldTakeThePositionsThatTransformersTakes(String parameters, String scaling, Double theta, double base,
            String kind) throws Exception {
        String llama3 = "{\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\":"
                + " 4.0, \"original_max_position_embeddings\": 32}";
        ObjectNode config = golden("llama-gqa");
        config.remove(List.of("rope_parameters", "rope_scaling", "rope_theta"));
        if (parameters != null) {
            config.set("rope_parameters", JSON.readTree(parameters.replace("LLAMA3", llama3)));
        }
        if (scaling != null) {
            config.set("rope_scaling", JSON.readTree(scaling.replace("LLAMA3", llama3)));
        }
        if (theta != null) {
            config.put("rope_theta", theta);
        }
        ObjectNode plain = golden("llama-gqa");
        ObjectNode expected = (ObjectNode) JSON.readTree(kind.equals("llama3") ? llama3 : "{}");
        plain.set("rope_parameters", expected.put("rope_theta", base));
        assertEquals(read(plain), read(config));
    }

    @Test
    void shouldRefusePositionsThatAreNotComputedInEitherKey() throws Exception {
        ObjectNode config = golden("llama-gqa");
        config.set("rope_scaling", JSON.readTree("{\"rope_type\": \"yarn\", \"factor\": 4.0, \"beta_fast\": 32}"));
        assertRefused(config, "rope_scaling must be of rope_type default or llama3");
        config.set("rope_scaling", JSON.readTree("{\"rope_type\": \"default\", \"mrope_section\": [2, 1, 1]}"));
        assertRefused(config, "rope_scaling must be an object of rope_type, type, rope_theta, factor, low_freq_factor,"
                + " high_freq_factor, original_max_position_embeddings, partial_rotary_factor, attention_factor for all"
                + " layers, without mrope_section");
        config.remove("rope_scaling");
        config.set("rope_parameters", JSON.readTree("{\"full_attention\": {\"rope_theta\": 500.0}}"));
        assertRefused(config, "rope_parameters must be an object of rope_type");
    }

    /** As in the configurations of transformers 5.18 without the key. */
    @Test
    void shouldReadOlderFilesAsTransformersDoes() throws Exception {
        ObjectNode llama = golden("llama-gqa").put("hidden_act", "swish");
        llama.remove("max_position_embeddings");
        assertEquals(2048, read(llama).size(Axis.POSITION));
        llama.put("model_type", "mistral").putNull("sliding_window");
        assertEquals(131_072, read(llama).size(Axis.POSITION));
        ObjectNode qwen = golden("qwen2-bias-tied").put("sliding_window", 4096);
        qwen.remove("use_sliding_window");
        assertEquals(read(golden("qwen2-bias-tied")), read(qwen));
        qwen.remove("max_position_embeddings");
        assertEquals(32_768, read(qwen).size(Axis.POSITION));
        assertRefused(qwen.put("use_sliding_window", true), "use_sliding_window must be false");
    }

    @Test
    void shouldTakeMistralWithoutAWindowForLlama() throws Exception {
        ObjectNode mistral = golden("llama-gqa").put("model_type", "mistral").putNull("sliding_window");
        assertEquals(read(golden("llama-gqa")), read(mistral));
        mistral.put("sliding_window", 4096);
        assertRefused(mistral, "sliding_window must be null, as attention over a window is not computed here, but found"
                + " \"4096\"");
        mistral.put("use_sliding_window", false); // which transformers does not read for Mistral
        assertRefused(mistral, "sliding_window must be null");
        mistral.remove("sliding_window"); // transformers then takes a window of 4096
        assertRefused(mistral, "sliding_window must be null, as attention over a window is not computed here, but is"
                + " missing");
    }

    @Test
    void shouldTakeTheFamilysNumbersIfAConfigurationHasNone() throws Exception {
        ObjectNode config = golden("llama-gqa");
        config.remove("head_dim");
        config.remove("num_key_value_heads");
        ModelSpec model = read(config);
        assertEquals(8, model.size(Axis.HEAD));
        assertEquals(6, model.size(Axis.KEY_VALUE_HEADS));
        ObjectNode qwen = golden("qwen3-qknorm");
        qwen.remove("head_dim");
        assertEquals(128, read(qwen).size(Axis.HEAD));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "hidden_act | \"gelu\" | hidden_act must be one of [silu, swish], as nothing else is computed here",
            "attention_bias | true | attention_bias must be false, as nothing else is computed here",
            "mlp_bias | true | mlp_bias must be false, as nothing else is computed here",
            "use_sliding_window | true | use_sliding_window must be false, as nothing else is computed here",
            "layer_types | [\"full_attention\", \"sliding_attention\"] | layer_types must be full_attention in every layer",
            "quantization_config | {\"bits\": 4} | quantization_config must be absent, as quantized weights are not trained",
            "num_key_value_heads | 4 | 6 heads (model.heads) are not divisible by the 4 with keys and values",
            "head_dim | 7 | the size of a head (model.head-size) must be even",
            "rope_parameters | {\"rope_type\": \"yarn\"} | rope_parameters must be of rope_type default or llama3",
            "rope_parameters | {\"rope_type\": \"llama3\", \"rope_theta\": 1} | rope_parameters must be an object with"
                    + " a number above 0 as low_freq_factor",
            "rope_parameters | {\"rope_theta\": -1} | rope_parameters must be an object with a number above 0 as rope_theta",
            "rope_parameters | 3 | rope_parameters must be null or an object",
            "partial_rotary_factor | 0.5 | partial_rotary_factor must be 1",
            "intermediate_size | 0 | intermediate_size must be a whole number of at least 1"})
    void shouldRefuseByNameWhatIsNotComputed(String key, String value, String sentence) throws Exception {
        ObjectNode config = golden("llama-gqa");
        config.set(key, JSON.readTree(value));
        assertRefused(config, sentence);
    }

    @Test
    void shouldTakeANullForAnAbsentKey() throws Exception {
        ObjectNode config = golden("llama-gqa");
        ModelSpec plain = read(config);
        config.putNull("partial_rotary_factor");
        assertEquals(plain, read(config));
    }

    @Test
    void shouldDescribeAModelByItsNumbers() {
        Map<String, Object> values = new HashMap<>(Map.of("layers", 2, "hidden", 64, "heads", 4, "sequence-length", 32,
                "vocabulary-size", 100, "tie-embeddings", true));
        ModelSpec plain = ModelFamilies.named("llama").read(new Section(values));
        assertEquals(4, plain.size(Axis.KEY_VALUE_HEADS));
        assertEquals(16, plain.size(Axis.HEAD));
        assertEquals(192, plain.size(Axis.INNER));
        assertEquals(plain, ModelFamilies.named("llama").read(plain.section()));

        values.putAll(Map.of("key-value-heads", 2, "head-size", 32, "inner", 96, "rotary-base", 5e5));
        ModelSpec other = ModelFamilies.named("qwen3").read(new Section(values));
        assertEquals(128, other.size(Axis.ATTENDED));
        assertEquals(64, other.size(Axis.KEY_VALUE));
        assertTrue(other.parameters().containsKey("model.layers.1.self_attn.k_norm.weight"));

        values.put("dropouts", 3);
        assertEquals("model.dropouts does not apply to a Qwen3 model: leave it out, or choose another model.family",
                assertThrows(IllegalArgumentException.class,
                        () -> ModelFamilies.named("qwen3").read(new Section(values))).getMessage());
    }

    @Test
    void shouldRefuseAWidthThatNoTensorHas() {
        Map<String, Object> values = Map.of("layers", 1, "hidden", Integer.MAX_VALUE, "heads", 1, "head-size", 2,
                "sequence-length", 8, "vocabulary-size", 100, "tie-embeddings", true);
        assertEquals("model.inner would be 5,726,623,072, and a width is at most 2,147,483,647: lower it",
                assertThrows(IllegalArgumentException.class,
                        () -> ModelFamilies.named("llama").read(new Section(values))).getMessage());
    }

    private static ObjectNode golden(String name) throws IOException, URISyntaxException {
        Path file = Path.of(RotaryFamilyTest.class.getResource("/goldens/" + name + "/model/config.json").toURI());
        return (ObjectNode) JSON.readTree(Files.readString(file));
    }

    private ModelSpec read(ObjectNode node) throws IOException {
        Path file = Files.writeString(directory.resolve("config.json"), node.toString());
        PublishedConfig config = PublishedConfig.read(file, ModelFamilies.titles());
        return ModelFamilies.of(config).readPublished(config);
    }

    private void assertRefused(ObjectNode node, String sentence) {
        String message = assertThrows(WeightException.class, () -> read(node)).getMessage();
        assertTrue(message.startsWith(directory.resolve("config.json") + ": " + sentence), message);
    }
}
