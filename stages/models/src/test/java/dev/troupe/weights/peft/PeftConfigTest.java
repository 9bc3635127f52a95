package dev.troupe.weights.peft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Lora;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Configurations of adapters; PEFT 0.21 wrote the goldens. */
@Tag("parity")
@Timeout(60)
class PeftConfigTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;

    @Test
    void shouldReadRankStabilizedAdaptersAndWriteThemSo() throws Exception {
        Lora lora = read("llama-rslora", config("llama-rslora"));
        assertEquals(new Lora(6, 12, true, List.of("q_proj", "v_proj", "up_proj"), ""), lora);
        assertEquals(12 / Math.sqrt(6), lora.scale());
        ModelSpec adapted = base("llama-rslora").family().adapted(base("llama-rslora"), lora);
        assertEquals(lora, adapted.lora().orElseThrow());
        assertEquals(lora, Lora.of(adapted.section()).orElseThrow());
        ObjectNode written = PeftConfig.of(adapted, Optional.of("base"), 0);
        assertTrue(written.get("use_rslora").booleanValue());
        assertEquals(lora, read("llama-rslora", written));
        assertEquals(2, read("llama-rslora", written.put("use_rslora", false)).scale());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "alora_invocation_tokens | [5, 6] | must be one of [[], null], as no other adapters are computed here",
            "use_dora | true | must be one of [false, null], as no other adapters are computed here",
            "arrow_config | {\"top_k\": 2} | must be one of [null], as no other adapters are computed here",
            "kasa_config | {\"beta\": 1.0} | must be one of [null], as no other adapters are computed here",
            "lora_bias | true | must be one of [false, null], as no other adapters are computed here",
            "use_rslora | 1 | must be true or false",
            "use_fantasy | true | must be absent, as this version does not know what it asks for",
            "fantasy_config | {\"a\": 0} | must be absent, as this version does not know what it asks for",
            "fantasy_rank | 3 | must be absent, as this version does not know what it asks for"})
    void shouldRefuseByNameTheKeysOfOtherAdapters(String key, String value, String sentence) throws Exception {
        ObjectNode config = config("llama-rslora");
        config.set(key, JSON.readTree(value));
        assertRefused("llama-rslora", config, key + " " + sentence);
    }

    @Test
    void shouldIgnoreKeysWithoutEffect() throws Exception {
        ObjectNode config = config("llama-rslora").put("use_fantasy", false).putNull("fantasy_config");
        config.putArray("fantasy_list");
        config.put("lora_dropout", 0.1).put("task_type", "SEQ_2_SEQ_LM").put("peft_version", "0.99.0");
        config.putObject("runtime_config").put("ephemeral_gpu_offload", false);
        assertEquals(read("llama-rslora", config("llama-rslora")), read("llama-rslora", config));
    }

    /** The names that PEFT matches: whole ones, ends of them after a dot, and expressions. */
    @ParameterizedTest
    @CsvSource(delimiter = '@', value = {
            "llama-rslora @ [\"self_attn.q_proj\", \"mlp.up_proj\"] @ q_proj up_proj",
            "llama-rslora @ \".*\\\\.self_attn\\\\.(q|v)_proj\" @ q_proj v_proj",
            "llama-rslora @ \"model\\\\.layers\\\\.\\\\d+\\\\.mlp\\\\..*\" @ gate_proj up_proj down_proj",
            "llama-rslora @ \"all-linear\" @ q_proj k_proj v_proj o_proj gate_proj up_proj down_proj",
            "gpt2-lora @ [\"attn.c_proj\"] @ attn.c_proj",
            "gpt2-lora @ [\"c_proj\"] @ attn.c_proj mlp.c_proj",
            "gpt2-lora @ \"transformer\\\\.h\\\\.\\\\d\\\\.mlp\\\\.c_fc\" @ mlp.c_fc",
            "gpt2-lora @ \"h\\\\.\\\\d\\\\.attn\\\\.c_attn\" @ attn.c_attn"})
    void shouldFindTheMatricesThatPeftFinds(String golden, String targets, String expected) throws Exception {
        ObjectNode config = config(golden);
        config.set("target_modules", JSON.readTree(targets));
        ModelSpec base = base(golden);
        assertEquals(List.of(expected.split(" ")),
                base.family().adapted(base, read(golden, config)).lora().orElseThrow().targets());
    }

    @Test
    void shouldReadFullNamesOfEveryLayerAndRefuseSome() throws Exception {
        ObjectNode config = config("llama-rslora");
        var names = config.putArray("target_modules");
        int layers = (int) base("llama-rslora").parameters().keySet().stream()
                .filter(name -> name.endsWith("k_proj.weight")).count();
        for (int layer = 0; layer < layers; layer++) {
            names.add("model.layers." + layer + ".self_attn.k_proj");
        }
        assertEquals(List.of("k_proj"), read("llama-rslora", config).targets());
        names.remove(1);
        assertRefused("llama-rslora", config, "target_modules must be the same in every layer, as adapters of some"
                + " layers alone are not computed here: with model.layers.0.self_attn.k_proj also"
                + " model.layers.1.self_attn.k_proj");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '@', value = {
            "[\"q_proj\", \"query\"] @ query is no matrix of a Llama model that can have an adapter: name some of q_proj",
            "[\"q_proj\", \"lm_head\"] @ lm_head is no matrix of a Llama model",
            "[\"proj\"] @ proj is no matrix of a Llama model",
            "[3] @ target_modules must be a list of names of matrices, an expression, or all-linear",
            "[] @ target_modules must be a list of names of matrices, an expression, or all-linear",
            "null @ target_modules must be a list of names of matrices, an expression, or all-linear",
            "\".*(q_proj|lm_head)\" @ target_modules must be names of matrices of the blocks alone, but lm_head is one",
            "\".*_proj2\" @ target_modules must be an expression that matches names of matrices, such as model.layers.0",
            "\"(?P<block>.*)q_proj\" @ target_modules must be an expression that Java reads as Python does",
            "\"(([a-z._0-9]+)+)+x\" @ target_modules must be an expression that is done with a name in 100000 steps"})
    void shouldRefuseTargetsByName(String targets, String sentence) throws Exception {
        ObjectNode config = config("llama-rslora");
        config.set("target_modules", JSON.readTree(targets));
        assertRefused("llama-rslora", config, sentence);
    }

    /** Expressions that never look at a character. Nothing ends their threads before this JVM. */
    @ParameterizedTest
    @ValueSource(strings = {
            "(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)(|)",
            "((){2000000000}){2000000000}"})
    void shouldRefuseAnExpressionThatTakesForEver(String expression) throws Exception {
        Path file = Files.writeString(directory.resolve("adapter_config.json"),
                config("llama-rslora").put("target_modules", expression).toString());
        PublishedConfig config = PublishedConfig.read(file, ModelFamilies.titles());
        String message = assertThrows(WeightException.class,
                () -> PeftTargets.of(config, base("llama-rslora"), Duration.ofSeconds(1))).getMessage();
        assertTrue(message.startsWith(
                file + ": target_modules must be an expression that is done with all names in 1 s; name the matrices"),
                message);
    }

    private void assertRefused(String golden, ObjectNode config, String sentence) {
        String message = assertThrows(WeightException.class, () -> read(golden, config)).getMessage();
        assertTrue(message.startsWith(directory.resolve("adapter_config.json") + ": " + sentence), message);
    }

    private Lora read(String golden, ObjectNode config) throws IOException, URISyntaxException {
        Path file = Files.writeString(directory.resolve("adapter_config.json"), config.toString());
        return PeftConfig.read(PublishedConfig.read(file, ModelFamilies.titles()), base(golden));
    }

    private static ModelSpec base(String golden) throws URISyntaxException {
        try (HuggingFaceModel model = HuggingFaceModel.open(golden(golden).resolve("model"))) {
            return model.spec();
        }
    }

    private static ObjectNode config(String golden) throws IOException, URISyntaxException {
        return (ObjectNode) JSON
                .readTree(Files.readString(golden(golden).resolve("adapter-initial/adapter_config.json")));
    }

    private static Path golden(String name) throws URISyntaxException {
        return Path.of(PeftConfigTest.class.getResource("/goldens/" + name).toURI());
    }
}
