package dev.troupe.weights.huggingface;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.PublishedConfig;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Models made to keep their reader busy, which end with a sentence within a short time. */
@Tag("plan")
class HostileModelTest {
    private static final JsonMapper JSON = new JsonMapper();
    /** Each takes a second at most on an idle machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String GPT2 = """
            {"model_type": "gpt2", "n_layer": 2, "n_embd": 8, "n_head": 2, "vocab_size": 16, "n_positions": 8}""";
    private static final String LLAMA = """
            {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2, "head_dim": 4,
             "num_key_value_heads": 2, "intermediate_size": 16, "vocab_size": 16, "max_position_embeddings": 8,
             "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
             "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                              "original_max_position_embeddings": 8}}""";
    private static final String EXPERTS = """
            {"model_type": "qwen3_moe", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2, "head_dim": 4,
             "num_key_value_heads": 2, "intermediate_size": 16, "moe_intermediate_size": 4, "num_experts": 2,
             "num_experts_per_tok": 1, "decoder_sparse_step": 1, "mlp_only_layers": [], "router_aux_loss_coef": 0.1,
             "vocab_size": 16, "max_position_embeddings": 8, "rms_norm_eps": 1e-5}""";

    @TempDir
    private Path directory;

    static Stream<String> configurations() throws IOException {
        List<String> all = new ArrayList<>();
        for (String config : List.of(GPT2, LLAMA, EXPERTS)) {
            for (String key : names(JSON.readTree(config))) {
                for (String value : List.of("2147483647", "2147483646", "65534", "16777216", "9e99", "1e-320", "-1",
                        "[[[[]]]]", "\"" + "x".repeat(1_000_000) + "\"", "[" + "0,".repeat(1_000_000) + "0]")) {
                    ObjectNode changed = (ObjectNode) JSON.readTree(config);
                    changed.set(key, JSON.readTree(value));
                    all.add(changed.toString());
                }
            }
            ObjectNode large = (ObjectNode) JSON.readTree(config);
            names(large).stream().filter(key -> large.get(key).isInt()).forEach(key -> large.put(key, 2147483646));
            all.add(large.toString());
        }
        return all.stream();
    }

    private static List<String> names(JsonNode object) {
        return object.propertyStream().map(entry -> entry.getKey()).toList();
    }

    @ParameterizedTest(name = "{index}")
    @MethodSource("configurations")
    void shouldRefuseAnySizeInTime(String config) throws IOException {
        Files.writeString(directory.resolve("config.json"), config);
        safetensors(directory.resolve("model.safetensors"), "{}");
        String refusal = refusal(() -> HuggingFaceModel.open(directory));
        assertTrue(refusal.startsWith(directory.toString()), refusal);
        assertTrue(refusal.length() < 2_000, refusal.length() + " characters");
    }

    @Test
    void shouldRefuseMoreBlocksThanAreNumbered() throws IOException {
        Files.writeString(directory.resolve("config.json"), GPT2.replace("\"n_layer\": 2", "\"n_layer\": 65535"));
        safetensors(directory.resolve("model.safetensors"), "{}");
        assertEquals(directory.resolve("config.json")
                + ": the model has 65535 blocks, and a model has at most 65534; use another model",
                refusal(() -> HuggingFaceModel.open(directory)));
    }

    @Test
    void shouldRefuseMoreExpertsThanAreDeclared() throws IOException {
        safetensors(directory.resolve("model.safetensors"), "{}");
        for (int count : List.of(32_769, 1_000_000, Integer.MAX_VALUE)) {
            Files.writeString(directory.resolve("config.json"),
                    EXPERTS.replace("\"num_experts\": 2", "\"num_experts\": " + count));
            String refusal = refusal(() -> HuggingFaceModel.open(directory));
            assertTrue(refusal.contains("are more than the 65,536 experts that a model can have in all"), refusal);
        }
    }

    @Test
    void shouldLookUpALongListOfBlocksInTime() throws IOException {
        safetensors(directory.resolve("model.safetensors"), "{}");
        Files.writeString(directory.resolve("config.json"), EXPERTS.replace("\"num_hidden_layers\": 2",
                "\"num_hidden_layers\": 65534").replace("[]", "[" + "7,".repeat(1_000_000) + "7]"));
        assertTrue(refusal(() -> HuggingFaceModel.open(directory)).contains("65,533 blocks with 2 experts each"));
    }

    @Test
    void shouldRefuseListsInsideEachOther() throws IOException {
        for (String lists : List.of("[".repeat(900) + "]".repeat(900), "[".repeat(1_000_000),
                "{\"a\":".repeat(1_000_000))) {
            Path config = Files.writeString(directory.resolve("config.json"),
                    GPT2.replace("\"n_inner\"", "\"x\"").replaceFirst("}$", ", \"n_inner\": " + lists + "}"));
            assertTrue(refusal(() -> HuggingFaceModel.open(directory)).startsWith(config.toString()));
            Path index = Files.writeString(directory.resolve("model.safetensors.index.json"),
                    "{\"weight_map\": " + lists + "}");
            Files.writeString(config, GPT2);
            assertTrue(refusal(() -> HuggingFaceModel.open(directory)).startsWith(index.toString()));
            Files.delete(index);
            Path file = safetensors(directory.resolve("model.safetensors"), "{\"a\": " + lists + "}");
            assertTrue(refusal(() -> SafeTensors.open(file)).startsWith(file.toString()));
            Files.delete(file);
        }
    }

    @Test
    void shouldRefuseOtherThanRegularFiles() throws IOException, InterruptedException {
        Path config = pipe("config.json");
        String pipe = ": it is a device or a pipe; save it as a file";
        assertEquals("cannot read " + config + pipe, refusal(() -> PublishedConfig.read(config, "GPT-2")));
        Path weights = pipe("model.safetensors");
        assertEquals(weights + " must be a safetensors file, but is a device or a pipe; save it as a file",
                refusal(() -> SafeTensors.open(weights)));
        Files.delete(config);
        Files.delete(weights);
        Files.writeString(config, GPT2);
        Path index = pipe("model.safetensors.index.json");
        assertEquals("cannot read " + index + pipe, refusal(() -> HuggingFaceModel.open(directory)));
        Files.delete(index);
        Files.createSymbolicLink(index, Path.of("/dev/zero"));
        assertEquals("cannot read " + index + pipe, refusal(() -> HuggingFaceModel.open(directory)));
        Files.delete(config);
        Files.delete(index);
        try (FileChannel huge = FileChannel.open(config, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            huge.write(ByteBuffer.allocate(1), 20_000_000_000L); // a hole that takes no room
        }
        assertEquals("cannot read " + config
                + ": it has 20000000001 bytes, and a file of its kind at most 67108864",
                refusal(() -> PublishedConfig.read(config, "GPT-2")));
    }

    private Path pipe(String name) throws IOException, InterruptedException {
        Path pipe = directory.resolve(name);
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        return pipe;
    }

    private static Path safetensors(Path file, String header) throws IOException {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        return Files.write(file, ByteBuffer.allocate(Long.BYTES + json.length).order(ByteOrder.LITTLE_ENDIAN)
                .putLong(json.length).put(json).array());
    }

    private static String refusal(Runnable work) {
        return assertTimeoutPreemptively(PATIENCE,
                () -> assertThrows(WeightException.class, work::run).getMessage());
    }
}
