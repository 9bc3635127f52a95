package dev.troupe.weights.gguf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.engine.DataType;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of GGUF against numbers computed here. */
@Tag("plan")
class GgufFileTest {
    private static final int F32 = 0;
    private static final int F16 = 1;
    private static final int Q8_0 = 8;
    private static final int BF16 = 30;
    private static final int LLAMA3_TOKENS = 890;

    @TempDir
    private Path directory;

    @Test
    void shouldNameTheModelAndItsTokenizer() throws Exception {
        ModelSpec model = model("llama", Map.of("key-value-heads", 2, "rotary-base", 5e5, "norm-epsilon", 1e-5));
        ReadGguf file = write(model, new InitialWeights(model, 1), GgufType.F16, "llama3");
        Map<String, Object> expected = new LinkedHashMap<>();
        expected.put("general.architecture", "llama");
        expected.put("general.type", "model");
        expected.put("general.name", "small");
        expected.put("general.file_type", 1);
        expected.put("general.quantization_version", 2);
        expected.put("general.alignment", 32);
        expected.put("llama.context_length", 128);
        expected.put("llama.embedding_length", 48);
        expected.put("llama.block_count", 2);
        expected.put("llama.feed_forward_length", 64);
        expected.put("llama.attention.head_count", 6);
        expected.put("llama.attention.head_count_kv", 2);
        expected.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
        expected.put("llama.attention.key_length", 8);
        expected.put("llama.attention.value_length", 8);
        expected.put("llama.rope.freq_base", 5e5f);
        expected.put("llama.rope.dimension_count", 8);
        expected.put("llama.vocab_size", 900);
        expected.put("tokenizer.ggml.model", "gpt2");
        expected.put("tokenizer.ggml.pre", "llama-bpe");
        expected.put("tokenizer.ggml.bos_token_id", 885);
        expected.put("tokenizer.ggml.eos_token_id", 889);
        expected.put("tokenizer.ggml.add_bos_token", true);
        expected.put("tokenizer.ggml.add_eos_token", false);
        JsonNode settings = new JsonMapper().readTree(tokenizer("llama3").resolve("tokenizer_config.json").toFile());
        expected.put("tokenizer.chat_template", settings.get("chat_template").asText());
        Map<String, Object> found = new LinkedHashMap<>(file.metadata());
        List<?> tokens = (List<?>) found.remove("tokenizer.ggml.tokens");
        List<?> types = (List<?>) found.remove("tokenizer.ggml.token_type");
        List<?> merges = (List<?>) found.remove("tokenizer.ggml.merges");
        assertEquals(expected, found);

        JsonNode json = new JsonMapper().readTree(tokenizer("llama3").resolve("tokenizer.json").toFile());
        assertEquals(900, tokens.size());
        assertEquals(900, types.size());
        json.at("/model/vocab").properties()
                .forEach(entry -> assertEquals(entry.getKey(), tokens.get(entry.getValue().asInt())));
        assertEquals("<|begin_of_text|>", tokens.get(885));
        assertEquals("[PAD899]", tokens.get(899));
        for (int id = 0; id < 900; id++) { // normal, control, unused
            assertEquals(id < 885 ? 1 : id < LLAMA3_TOKENS ? 3 : 5, types.get(id));
        }
        assertEquals(json.at("/model/merges").size(), merges.size());
        assertEquals("h e", merges.get(1));
    }

    @Test
    void shouldStoreMatricesInTheTypeAndVectorsInFloat32() throws Exception {
        ModelSpec model = model("llama", Map.of("key-value-heads", 2));
        WeightSource weights = new InitialWeights(model, 1);
        ReadGguf file = write(model, weights, GgufType.Q8_0, "llama3");
        assertEquals(Set.of("token_embd.weight", "output_norm.weight", "output.weight"), outsideBlocks(file));
        Map<String, List<Long>> shapes = new HashMap<>();
        Map<String, Integer> types = new HashMap<>();
        file.tensors().forEach((name, tensor) -> {
            shapes.put(name.replaceFirst("blk\\.[01]\\.", ""), tensor.dimensions());
            types.put(name.replaceFirst("blk\\.[01]\\.", ""), tensor.type());
        });
        // Rows of 48 numbers are no whole blocks of 32, and rows of 64 are.
        assertEquals(Map.ofEntries(Map.entry("token_embd.weight", F16), Map.entry("output.weight", F16),
                Map.entry("output_norm.weight", F32), Map.entry("attn_norm.weight", F32),
                Map.entry("ffn_norm.weight", F32), Map.entry("attn_q.weight", F16), Map.entry("attn_k.weight", F16),
                Map.entry("attn_v.weight", F16), Map.entry("attn_output.weight", F16),
                Map.entry("ffn_gate.weight", F16), Map.entry("ffn_up.weight", F16),
                Map.entry("ffn_down.weight", Q8_0)), types);
        assertEquals(List.of(48L, 900L), shapes.get("token_embd.weight"));
        assertEquals(List.of(48L, 16L), shapes.get("attn_k.weight"));
        assertEquals(List.of(64L, 48L), shapes.get("ffn_down.weight"));
        assertEquals(List.of(48L), shapes.get("ffn_norm.weight"));
        float[] table = floats(weights, model, "model.embed_tokens.weight");
        short[] halves = file.tensors().get("token_embd.weight").shorts();
        for (int i = 0; i < table.length; i++) {
            assertEquals(Float.floatToFloat16(table[i]), halves[i]);
        }
    }

    /** Row 2 i of a head is its row i, and row 2 i + 1 is its row i + D/2. */
    @Test
    void shouldPutTheRowsOfPairsNextToEachOtherInLlamaAlone() throws Exception {
        for (String family : List.of("llama", "qwen3")) {
            ModelSpec model = model(family, Map.of("key-value-heads", 2, "tie-embeddings", true));
            WeightSource weights = new InitialWeights(model, 1);
            ReadGguf file = write(model, weights, GgufType.F32, "qwen");
            assertFalse(file.tensors().containsKey("output.weight"));
            for (String name : List.of("q", "k", "v")) {
                float[] published = floats(weights, model, "model.layers.1.self_attn." + name + "_proj.weight");
                float[] stored = file.tensors().get("blk.1.attn_" + name + ".weight").floats();
                boolean isTurned = family.equals("llama") && !name.equals("v");
                for (int row = 0; row < stored.length / 48; row++) {
                    int inHead = row % 8;
                    int from = isTurned ? row - inHead + (inHead % 2 == 0 ? inHead / 2 : 4 + inHead / 2) : row;
                    assertArrayEquals(Arrays.copyOfRange(published, from * 48, from * 48 + 48),
                            Arrays.copyOfRange(stored, row * 48, row * 48 + 48), family + " " + name + " " + row);
                }
            }
            assertEquals(family.equals("qwen3"), file.tensors().containsKey("blk.0.attn_q_norm.weight"));
        }
    }

    /** As llama.cpp's conversion stores them: the router in float32, and a matrix of all experts. */
    @Test
    void shouldStackExperts() throws Exception {
        for (String family : List.of("mixtral", "qwen3_moe")) {
            ModelSpec model = model(family, Map.of("experts", 3, "experts-per-token", 2, "tie-embeddings", true));
            WeightSource weights = new InitialWeights(model, 1);
            ReadGguf file = write(model, weights, GgufType.F16, "qwen");
            boolean isMixtral = family.equals("mixtral");
            String architecture = isMixtral ? "llama" : "qwen3moe";
            assertEquals(architecture, file.metadata().get("general.architecture"));
            assertEquals(3, file.metadata().get(architecture + ".expert_count"));
            assertEquals(2, file.metadata().get(architecture + ".expert_used_count"));
            assertEquals(List.of(48L, 3L), file.tensors().get("blk.1.ffn_gate_inp.weight").dimensions());
            String inside = "model.layers.1." + (isMixtral ? "block_sparse_moe." : "mlp.");
            assertArrayEquals(floats(weights, model, inside + "gate.weight"),
                    file.tensors().get("blk.1.ffn_gate_inp.weight").floats());
            Map<String, String> matrices = isMixtral
                    ? Map.of("gate", "w1", "up", "w3", "down", "w2")
                    : Map.of("gate", "gate_proj", "up", "up_proj", "down", "down_proj");
            matrices.forEach((stored, published) -> {
                ReadGguf.Tensor tensor = file.tensors().get("blk.1.ffn_" + stored + "_exps.weight");
                assertEquals(stored.equals("down") ? List.of(64L, 48L, 3L) : List.of(48L, 64L, 3L),
                        tensor.dimensions());
                short[] halves = tensor.shorts();
                for (int expert = 0; expert < 3; expert++) {
                    float[] matrix = floats(weights, model,
                            inside + "experts." + expert + "." + published + ".weight");
                    for (int i = 0; i < matrix.length; i++) {
                        assertEquals(Float.floatToFloat16(matrix[i]), halves[expert * matrix.length + i]);
                    }
                }
            });
            assertFalse(file.tensors().containsKey("blk.1.ffn_gate.weight"));
        }
    }

    /** As llama.cpp's conversion stores GLM-4.5: the first block dense, the bias of the choice, and the shared expert. */
    @Test
    void shouldStoreRoutersAndSharedExperts() throws Exception {
        ModelSpec model = model("glm4_moe", Map.of("experts", 3, "experts-per-token", 2, "expert-inner", 32,
                "routed-scaling-factor", 2.5, "head-size", 16));
        WeightSource weights = new InitialWeights(model, 1);
        ReadGguf file = write(model, weights, GgufType.F16, "qwen");
        assertEquals("glm4moe", file.metadata().get("general.architecture"));
        assertEquals(8, file.metadata().get("glm4moe.rope.dimension_count"));
        assertEquals(1, file.metadata().get("glm4moe.expert_shared_count"));
        assertEquals(1, file.metadata().get("glm4moe.leading_dense_block_count"));
        assertEquals(2, file.metadata().get("glm4moe.expert_gating_func"));
        assertEquals(2.5f, file.metadata().get("glm4moe.expert_weights_scale"));
        assertEquals(true, file.metadata().get("glm4moe.expert_weights_norm"));
        assertTrue(file.tensors().keySet().containsAll(Set.of("blk.0.ffn_gate.weight", "blk.1.ffn_gate_inp.weight",
                "blk.1.ffn_gate_exps.weight", "blk.1.ffn_up_shexp.weight", "blk.1.post_attention_norm.weight",
                "blk.1.attn_q.bias", "blk.1.attn_q_norm.weight")));
        assertEquals(List.of(3L), file.tensors().get("blk.1.exp_probs_b.bias").dimensions());
        assertFalse(file.tensors().containsKey("blk.0.ffn_gate_inp.weight"));
        assertFalse(file.tensors().containsKey("blk.1.ffn_gate.weight"));
    }

    /** As transformers computes {@code llama3}: by wave lengths. */
    @Test
    void shouldStoreTheScalingOfLlama31AsFactors() throws Exception {
        ModelSpec model = model("llama", Map.of("head-size", 16, "rotary-base", 1e4, "rotary-factor", 8.0,
                "rotary-low-factor", 1.0, "rotary-high-factor", 4.0, "rotary-original-length", 64));
        ReadGguf file = write(model, new InitialWeights(model, 1), GgufType.F16, "llama3");
        float[] factors = file.tensors().get("rope_freqs.weight").floats();
        assertEquals(8, factors.length);
        Set<String> kinds = new TreeSet<>();
        for (int i = 0; i < 8; i++) {
            double wave = 2 * Math.PI * Math.pow(1e4, i / 8.0);
            double expected;
            if (wave < 64 / 4.0) {
                expected = 1;
            } else if (wave > 64 / 1.0) {
                expected = 8;
            } else {
                double smooth = (64 / wave - 1) / (4 - 1);
                expected = 1 / ((1 - smooth) / 8 + smooth);
            }
            kinds.add(expected == 1 ? "high" : expected == 8 ? "low" : "between");
            assertEquals(expected, factors[i], 1e-6 * expected);
        }
        assertEquals(Set.of("high", "low", "between"), kinds);

        ModelSpec qwen = model("qwen2", Map.of("rotary-factor", 8.0, "rotary-original-length", 64));
        assertEquals("a Qwen2 model with scaled rotary positions cannot be written as GGUF, since llama.cpp reads the"
                + " scaling of Llama models alone: take --format huggingface",
                assertThrows(WeightException.class,
                        () -> write(qwen, new InitialWeights(qwen, 1), GgufType.F16, "qwen"))
                        .getMessage());
    }

    @Test
    void shouldTransposeTheMatricesOfGpt2() throws Exception {
        ModelSpec model = ModelFamilies.named("gpt2").read(new Section(Map.of("layers", 1, "hidden", 32, "heads", 2,
                "sequence-length", 16, "vocabulary-size", 900, "tie-embeddings", true)));
        WeightSource weights = new InitialWeights(model, 1);
        ReadGguf file = write(model, weights, GgufType.BF16, "gpt2");
        assertEquals("gpt-2", file.metadata().get("tokenizer.ggml.pre"));
        assertEquals(1e-5f, file.metadata().get("gpt2.attention.layer_norm_epsilon"));
        assertEquals(Set.of("token_embd.weight", "position_embd.weight", "output_norm.weight", "output_norm.bias",
                "output.weight"), outsideBlocks(file));
        assertEquals(F32, file.tensors().get("position_embd.weight").type());
        ReadGguf.Tensor stored = file.tensors().get("blk.0.attn_qkv.weight");
        assertEquals(BF16, stored.type());
        assertEquals(List.of(32L, 96L), stored.dimensions());
        float[] published = floats(weights, model, "h.0.attn.c_attn.weight");
        short[] upper = stored.shorts();
        for (int out = 0; out < 96; out++) {
            for (int in = 0; in < 32; in++) {
                float value = Float.intBitsToFloat(upper[out * 32 + in] << 16);
                assertEquals(published[in * 96 + out], value, Math.abs(value) / 256);
            }
        }
        assertEquals(file.tensors().get("token_embd.weight").bytes(), file.tensors().get("output.weight").bytes());
        assertEquals(List.of(96L), file.tensors().get("blk.0.attn_qkv.bias").dimensions());
    }

    /** With 127 as the greatest magnitude the scale is 1, so that the bytes are the numbers, rounded. */
    @Test
    void shouldRoundBlocksOf32AsGgmlDoes() throws Exception {
        ModelSpec model = model("llama", Map.of());
        float[] block = new float[32];
        float[] given = {0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 0.49999997f, 126.5f, 127, -126.4f, -0f};
        System.arraycopy(given, 0, block, 0, given.length);
        byte[] rounded = {1, -1, 2, 3, -3, 0, 127, 127, -126, 0};
        WeightSource weights = (_, shape, _, target) -> {
            for (int i = 0; i < shape.elementCount(); i++) {
                // A second block of half the size, then blocks of zeros.
                float factor = i / 32 == 0 ? 1 : i / 32 == 1 ? 0.5f : 0;
                target.setAtIndex(ValueLayout.JAVA_FLOAT, i, block[i % 32] * factor);
            }
        };
        ReadGguf file = write(model, weights, GgufType.Q8_0, "llama3");
        byte[] bytes = new byte[3 * 34];
        file.tensors().get("blk.0.ffn_down.weight").bytes().get(bytes);
        for (int number = 0; number < 3; number++) {
            int scale = bytes[number * 34] & 0xff | (bytes[number * 34 + 1] & 0xff) << 8;
            assertEquals(new int[]{0x3c00, 0x3800, 0}[number], scale); // 1, 0.5 and 0 as float16
            byte[] expected = number == 2 ? new byte[10] : rounded;
            assertArrayEquals(expected, Arrays.copyOfRange(bytes, number * 34 + 2, number * 34 + 12));
        }
    }

    @Test
    void shouldRefuseANumberThatFloat16CannotHold() throws Exception {
        ModelSpec model = model("llama", Map.of());
        WeightSource weights = (name, shape, _, target) -> IntStream.range(0, (int) shape.elementCount())
                .forEach(i -> target.setAtIndex(ValueLayout.JAVA_FLOAT, i, name.contains("up_proj") ? 1e5f : 1));
        assertEquals("blk.0.ffn_up.weight has the number 100000.0, and float16 ends at 65504: take --type bf16 or f32",
                assertThrows(WeightException.class, () -> write(model, weights, GgufType.F16, "llama3"))
                        .getMessage());
        assertEquals(List.of(), List.of(directory.toFile().list()), "nothing is left");
        assertEquals(1e5f, write(model, weights, GgufType.F32, "llama3").tensors().get("blk.0.ffn_up.weight")
                .floats()[0]);
        assertTrue(Files.exists(directory.resolve("model.gguf")));
    }

    static ModelSpec model(String family, Map<String, Object> more) {
        Map<String, Object> section = new HashMap<>(Map.of("layers", 2, "hidden", 48, "heads", 6, "inner", 64,
                "sequence-length", 128, "vocabulary-size", 900, "tie-embeddings", false));
        section.putAll(more);
        return ModelFamilies.named(family).read(new Section(section));
    }

    private ReadGguf write(ModelSpec model, WeightSource weights, GgufType type, String form) throws IOException {
        Path path = directory.resolve("model.gguf");
        GgufFile file = GgufFile.of(model, type, GgufVocabulary.read(tokenizer(form)), "small");
        file.write(path, weights);
        assertEquals(Files.size(path), file.byteCount());
        return ReadGguf.of(path);
    }

    static Path tokenizer(String form) {
        try {
            return Path.of(GgufFileTest.class.getResource("/tokenizers/" + form).toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Set<String> outsideBlocks(ReadGguf file) {
        return file.tensors().keySet().stream().filter(name -> !name.startsWith("blk."))
                .collect(Collectors.toSet());
    }

    private static float[] floats(WeightSource weights, ModelSpec model, String name) {
        MemorySegment target = MemorySegment
                .ofArray(new float[(int) model.parameters().get(name).elementCount()]);
        weights.read(name, model.parameters().get(name).shape().sizes(), DataType.FLOAT32, target);
        return target.toArray(ValueLayout.JAVA_FLOAT);
    }
}
