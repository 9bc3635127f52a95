package dev.troupe.model.rotary;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Balance;
import dev.troupe.model.spec.ExpertTraining;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class ExpertFamilyTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;

    private static ObjectNode golden(String name) throws IOException, URISyntaxException {
        Path file = Path.of(ExpertFamilyTest.class.getResource("/goldens/" + name + "/model/config.json").toURI());
        return (ObjectNode) JSON.readTree(file.toFile());
    }

    private ModelSpec read(ObjectNode config) throws IOException {
        Path file = directory.resolve("config.json");
        JSON.writeValue(file.toFile(), config);
        PublishedConfig published = PublishedConfig.read(file, ModelFamilies.titles());
        return ModelFamilies.of(published).readPublished(published);
    }

    private String refusal(ObjectNode config) {
        return assertThrows(WeightException.class, () -> read(config)).getMessage();
    }

    @Test
    void shouldReadTheNumberOfExpertsUnderBothNamesAndRefuseWrongLayers() throws Exception {
        ObjectNode ofHub = golden("qwen3moe-dense-between");
        ModelSpec expected = read(ofHub);
        assertEquals(5, expected.layers().stream().filter(layer -> layer.name().equals("h.0.mlp")).findFirst()
                .orElseThrow().parameters().stream().filter(one -> one.name().endsWith(".up_proj.weight")).count());
        assertEquals(expected, read(golden("qwen3moe-dense-between").<ObjectNode>without("num_experts")
                .put("num_local_experts", 5)));
        assertTrue(refusal(ofHub.put("num_local_experts", 4))
                .contains("num_experts must be the same as num_local_experts"));
        assertTrue(refusal(golden("qwen3moe").put("mlp_only_layers", "x"))
                .contains("mlp_only_layers must be a list of numbers of layers, from 0"));
    }

    /** Transformers ignores such a number. */
    @Test
    void shouldRefuseBlocksWithoutExpertsThatDoNotExist() throws Exception {
        for (int block : List.of(4, 99, Integer.MAX_VALUE)) {
            ObjectNode config = golden("qwen3moe-dense-between");
            config.putArray("mlp_only_layers").add(block).add(1);
            assertTrue(refusal(config).contains("the blocks without experts must be among the "
                    + config.get("num_hidden_layers").asInt() + " of model.layers, counted from 0, but found " + block),
                    refusal(config));
        }
        ModelSpec model = read(golden("qwen3moe-dense-between"));
        for (String text : List.of("x", "-1", "", "1,,2", "99999999999", "1, 2")) {
            Map<String, Object> values = new HashMap<>(model.section().values());
            values.put("dense-blocks", text);
            assertEquals("model.dense-blocks must be numbers of blocks from 0 with commas between them, such as"
                    + " \"0,3\", but found " + text,
                    assertThrows(IllegalArgumentException.class, () -> model.family().read(new Section(values)))
                            .getMessage());
        }
    }

    @Test
    void shouldHaveExpertsInTheBlocksOfTheConfiguration() throws Exception {
        ModelSpec second = read(golden("qwen3moe"));
        assertTrue(second.parameters().containsKey("model.layers.0.mlp.gate_proj.weight"));
        assertTrue(second.parameters().containsKey("model.layers.1.mlp.experts.5.gate_proj.weight"));
        assertFalse(second.parameters().containsKey("model.layers.2.mlp.gate.weight"));
        ModelSpec between = read(golden("qwen3moe-dense-between"));
        assertFalse(between.parameters().containsKey("model.layers.1.mlp.gate.weight"));
        assertTrue(between.parameters().containsKey("model.layers.2.mlp.gate.weight"));
        ObjectNode none = golden("qwen3moe").put("decoder_sparse_step", 5);
        assertTrue(refusal(none).contains("none of the 4 blocks (model.layers) has experts"));
    }

    /** Transformers ignores it if {@code output_router_logits} is false, whatever the number. */
    @Test
    void shouldFollowTheCoefficientOfTheAuxiliaryLossAlone() throws Exception {
        ObjectNode config = golden("mixtral-aux").put("output_router_logits", false);
        assertEquals(Optional.of(new Balance(6, 3, true, new ExpertTraining(0.05, 0, 0, 0, false))),
                read(config).balance());
        assertEquals(5, read(config).balance().orElseThrow().boundaryRows(32)); // 136 bytes
        assertEquals(1, read(config).balance().orElseThrow().boundaryRows(136));
        assertTrue(read(config).summary().contains("2 of 6 experts a token with an auxiliary loss of 0.05"));
        config.remove("router_aux_loss_coef");
        assertEquals(0.001, read(config).balance().orElseThrow().training().auxiliaryLoss());
        ModelSpec without = read(config.put("router_aux_loss_coef", 0));
        assertTrue(without.summary().contains("2 of 6 experts a token, vocabulary"), without.summary());
        ObjectNode written = JSON.createObjectNode();
        without.family().writePublished(without, written);
        assertFalse(written.get("output_router_logits").booleanValue());
    }

    @Test
    void shouldRefuseWhatIsNotComputed() throws Exception {
        assertTrue(
                refusal(golden("mixtral").put("router_jitter_noise", 0.1)).contains("router_jitter_noise must be 0"));
        assertTrue(refusal(golden("mixtral").put("sliding_window", 4096)).contains("sliding_window must be null"));
        assertTrue(refusal(golden("mixtral").put("num_experts_per_tok", 5)).contains(
                "a token has 5 experts (model.experts-per-token), but there are 4 (model.experts)"));
        assertTrue(refusal(golden("mixtral").put("router_aux_loss_coef", -1))
                .contains("router_aux_loss_coef must be a number of at least 0"));
        ModelSpec model = read(golden("qwen3moe"));
        assertTrue(assertThrows(WeightException.class, () -> model.family().gguf(model)).getMessage()
                .contains("a Qwen3-MoE model can be written as GGUF only with experts in every block"));
    }

    @Test
    void shouldReadTheRouterOfAConfiguration() throws Exception {
        ModelSpec model = read(golden("glm4moe"));
        assertTrue(model.parameters().containsKey("model.layers.0.mlp.gate_proj.weight"));
        assertTrue(model.parameters().containsKey("model.layers.1.mlp.shared_experts.up_proj.weight"));
        assertTrue(model.parameters().get("model.layers.2.mlp.gate.e_score_correction_bias").followsLoads());
        assertTrue(model.summary().contains("2 of 6 experts a token and a shared one, vocabulary"), model.summary());
        assertEquals(model, read(golden("glm4moe").<ObjectNode>without("rope_parameters").put("rope_theta", 1e6)));
        assertTrue(refusal(golden("glm4moe").put("n_group", 4))
                .contains("the 6 experts (model.experts) are not divisible by 4 groups (model.expert-groups)"));
        assertTrue(refusal(golden("glm4moe").put("num_experts_per_tok", 4)).contains("a token has 4 experts"
                + " (model.experts-per-token) of 1 groups (model.expert-groups-per-token), but there are 2 groups of 3"));
        assertTrue(refusal(golden("glm4moe").put("routed_scaling_factor", 0)).contains("a number above 0"));
        assertTrue(refusal(golden("glm4moe").put("partial_rotary_factor", 0.25)).contains(
                "partial_rotary_factor must be at most 1, and the same in rope_parameters if it has one"));
        assertTrue(refusal(golden("glm4moe").put("first_k_dense_replace", 3)).contains("none of the 3 blocks"));
        assertTrue(refusal(golden("glm4moe").put("n_shared_experts", -1)).contains("a whole number of at least 0"));
        assertTrue(refusal(golden("glm4moe").put("n_shared_experts", Integer.MAX_VALUE)).contains("lower one of them"));
        ModelSpec alone = read(golden("glm4moe").put("n_shared_experts", 0).put("attention_bias", false)
                .put("use_qk_norm", false));
        assertFalse(alone.parameters().keySet().stream().anyMatch(
                name -> name.contains("shared") || name.endsWith("q_proj.bias") || name.contains("q_norm")));
        assertTrue(assertThrows(WeightException.class, () -> model.family().gguf(model)).getMessage().contains(
                "a GLM-4.5 model can be written as GGUF only with one group of experts, and biases of queries"));
    }

    @Test
    void shouldAdaptAttentionAlone() throws Exception {
        for (String name : List.of("mixtral", "qwen3moe", "glm4moe")) {
            ModelSpec model = read(golden(name));
            ModelSpec adapted = model.family().adapted(model, new Lora(2, 4, List.of(Lora.ALL_LINEAR), "base"));
            assertEquals(List.of("q_proj", "k_proj", "v_proj", "o_proj"), adapted.lora().orElseThrow().targets());
            String expert = name.equals("mixtral") ? "w1" : "gate_proj";
            assertEquals(expert + " is no matrix of a " + model.family().title() + " model that can have an adapter:"
                    + " name some of q_proj, k_proj, v_proj, o_proj, or all-linear",
                    assertThrows(IllegalArgumentException.class,
                            () -> model.family().adapted(model, new Lora(2, 4, List.of(expert), "base")))
                            .getMessage());
        }
    }

    @Test
    void shouldReadItsOwnSection() throws Exception {
        for (String name : List.of("mixtral", "mixtral-aux", "qwen3moe", "qwen3moe-dense-between", "glm4moe")) {
            ModelSpec model = read(golden(name));
            assertEquals(model, model.family().read(model.section()));
            assertEquals(model.balance(), model.family().read(model.section()).balance());
        }
        Map<String, Object> values = new HashMap<>(read(golden("mixtral")).section().values());
        values.remove("experts");
        assertTrue(assertThrows(IllegalArgumentException.class,
                () -> ModelFamilies.named("mixtral").read(new Section(values))).getMessage().contains("model.experts"));
    }
}
