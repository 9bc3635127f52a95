package dev.troupe.weights.huggingface;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.StoredType;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class HuggingFaceWriterTest {
    /** Its table has 40 x 8 x 4 = 1280 bytes, more than any other tensor. */
    private static final ModelSpec MODEL = ModelFamilies.named("llama")
            .read(new Section(Map.of("layers", 2, "hidden", 8,
                    "heads", 2, "inner", 16, "sequence-length", 16, "vocabulary-size", 40, "tie-embeddings", true)));
    private static final WeightSource WEIGHTS = new InitialWeights(MODEL, 7);
    private static final int TABLE_BYTES = 1280;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(longs = {1, 600, TABLE_BYTES, 3000})
    void shouldDivideWeightsAmongFilesWithAnIndex(long shardBytes) throws IOException {
        HuggingFaceWriter.write(directory, MODEL, floats(), shardBytes, Optional.empty());
        JsonNode index = json("model.safetensors.index.json");
        assertEquals(4 * MODEL.parameterCount(), index.at("/metadata/total_size").asLong());
        Map<String, List<String>> byFile = new TreeMap<>();
        index.get("weight_map").properties().forEach(entry -> byFile
                .computeIfAbsent(entry.getValue().asText(), _ -> new ArrayList<>()).add(entry.getKey()));
        int count = byFile.size();
        assertTrue(count > 1);
        for (Map.Entry<String, List<String>> shard : byFile.entrySet()) {
            assertTrue(shard.getKey().matches("model-0000?\\d+-of-000%02d\\.safetensors".formatted(count)));
            try (SafeTensors file = SafeTensors.open(directory.resolve(shard.getKey()))) {
                assertEquals(shard.getValue().stream().sorted().toList(),
                        file.tensors().keySet().stream().sorted().toList());
                long bytes = file.tensors().values().stream().mapToLong(tensor -> tensor.byteCount()).sum();
                assertTrue(bytes <= shardBytes || shard.getValue().size() == 1, shard + " has " + bytes);
            }
        }
        assertReadBack(WEIGHTS);
    }

    @Test
    void shouldLeaveNoWeightsOfAnEarlierModelInOtherFiles() throws IOException {
        HuggingFaceWriter.write(directory, MODEL, floats(), 600, Optional.empty());
        HuggingFaceModel.write(directory, MODEL, floats());
        assertEquals(List.of("config.json", "model.safetensors"), names());
        HuggingFaceWriter.write(directory, MODEL, floats(), TABLE_BYTES, Optional.empty());
        assertFalse(names().contains("model.safetensors"), names().toString());
        assertReadBack(WEIGHTS);
        List<String> before = names();
        List<NamedTensor> failing = new ArrayList<>(floats());
        NamedTensor last = failing.removeLast();
        failing.add(new NamedTensor(last.name(), last.shape(), last.type(), _ -> {
            throw new IllegalStateException("device lost");
        }));
        assertThrows(IllegalStateException.class,
                () -> HuggingFaceWriter.write(directory, MODEL, failing, 600, Optional.empty()));
        assertEquals(before, names());
        assertReadBack(WEIGHTS);
    }

    @Test
    void shouldRoundToTheNearestBfloat16() throws IOException {
        // A bfloat16 has 8 bits: above 1 its numbers are 1/128 apart, so that 1/256 lies in the middle between two.
        float[] values = {1, 1 + 1 / 256f, 1 + 3 / 256f, 1 + 1 / 256f + 1e-6f, -1 - 3 / 256f, 3.3e38f, 1e-40f, -0f};
        float[] expected = {1, 1, 1 + 4 / 256f, 1 + 2 / 256f, -1 - 4 / 256f, 3.2964855e38f, 9.18355e-41f, -0f};
        List<NamedTensor> tensors = new ArrayList<>();
        for (NamedTensor tensor : floats()) {
            float[] filled = new float[(int) tensor.shape().elementCount()];
            for (int i = 0; i < filled.length; i++) {
                filled[i] = values[i % values.length];
            }
            tensors.add(NamedTensor.of(tensor.name(), tensor.shape(), DataType.FLOAT32, MemorySegment.ofArray(filled))
                    .inBfloat16());
        }
        HuggingFaceModel.write(directory, MODEL, tensors);
        try (SafeTensors file = SafeTensors.open(directory.resolve("model.safetensors"))) {
            file.tensors().values().forEach(tensor -> assertEquals(StoredType.BF16, tensor.type()));
            assertEquals(2 * MODEL.parameterCount(),
                    file.tensors().values().stream().mapToLong(tensor -> tensor.byteCount()).sum());
        }
        try (HuggingFaceModel read = HuggingFaceModel.open(directory)) {
            assertArrayEquals(expected, floats(read, "model.norm.weight", Shape.of(8)));
        }
        assertEquals("bfloat16", json("config.json").get("dtype").asText());
        assertEquals("bfloat16", json("config.json").get("torch_dtype").asText());
    }

    @Test
    void shouldPutTheFilesOfTheTokenizerNextToTheWeights() throws IOException {
        Path source = Files.createDirectory(directory.resolve("source"));
        for (String name : List.of("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
                "chat_template.jinja", "vocab.json", "merges.txt", "generation_config.json", "modeling_own.py",
                "notes.txt", "pytorch_model.bin")) {
            Files.writeString(source.resolve(name), "of " + name);
        }
        Files.writeString(source.resolve("config.json"),
                "{\"bos_token_id\": 1, \"eos_token_id\": [2, 39], \"pad_token_id\": 40, \"vocab_size\": 50}");
        Path named = Files.createDirectory(source.resolve("additional_chat_templates"));
        Files.writeString(named.resolve("tool_use.jinja"), "of tools");
        Files.writeString(named.resolve("notes.txt"), "of nobody");
        Path kept = directory.resolve("kept");
        CompanionFiles.copyModel(source, kept);
        CompanionFiles.copyTokenizer(source, kept);
        Path out = directory.resolve("out");
        HuggingFaceWriter.write(out, MODEL, floats(), HuggingFaceWriter.USUAL_SHARD_BYTES, Optional.of(kept));
        assertEquals(List.of("additional_chat_templates", "chat_template.jinja", "config.json",
                "generation_config.json",
                "merges.txt", "model.safetensors", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
                "vocab.json"), names(out));
        assertEquals(List.of("tool_use.jinja"), names(out.resolve("additional_chat_templates")));
        assertEquals("of merges.txt", Files.readString(out.resolve("merges.txt")));
        JsonNode config = new JsonMapper().readTree(out.resolve("config.json").toFile());
        assertEquals(1, config.get("bos_token_id").asInt());
        assertEquals("[2,39]", config.get("eos_token_id").toString());
        assertFalse(config.has("pad_token_id"), "the model has no token 40");
        assertEquals(40, config.get("vocab_size").asInt());
    }

    @Test
    void shouldRefuseAFileThatIsTooLargeToBeCopied() throws IOException {
        Path large = directory.resolve("vocab.json");
        try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
            file.setLength(BoundedFile.MOST_BYTES + 1);
        }
        String refusal = assertThrows(WeightException.class, () -> CompanionFiles.in(directory)).getMessage();
        assertEquals(
                large + " has 67108865 bytes, and a file next to a model at most 67108864: take it away, or put the"
                        + " right one in its place",
                refusal);
    }

    private static List<NamedTensor> floats() {
        return MODEL.parameters().values().stream().map(parameter -> {
            Shape shape = parameter.shape().sizes();
            return new NamedTensor(parameter.name(), shape, DataType.FLOAT32,
                    target -> WEIGHTS.read(parameter.name(), shape, DataType.FLOAT32, target));
        }).toList();
    }

    private void assertReadBack(WeightSource expected) {
        try (HuggingFaceModel read = HuggingFaceModel.open(directory)) {
            assertEquals(MODEL, read.spec());
            MODEL.parameters().forEach((name, parameter) -> assertArrayEquals(
                    floats(expected, name, parameter.shape().sizes()), floats(read, name, parameter.shape().sizes()),
                    name));
        }
    }

    private static float[] floats(WeightSource source, String name, Shape shape) {
        MemorySegment target = MemorySegment.ofArray(new float[(int) shape.elementCount()]);
        source.read(name, shape, DataType.FLOAT32, target);
        return target.toArray(ValueLayout.JAVA_FLOAT);
    }

    private JsonNode json(String name) throws IOException {
        return new JsonMapper().readTree(directory.resolve(name).toFile());
    }

    private List<String> names() throws IOException {
        return names(directory);
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }
}
