package dev.troupe.weights.huggingface;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.SafeTensorsWriter;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("parity")
class HuggingFaceModelTest {
    private static final ModelSpec TIED = new Gpt2(4, 32, 4, 16, 64, true, 1e-5).spec();

    @TempDir
    private Path directory;

    @Test
    void shouldReadTheGoldenModels() throws URISyntaxException {
        try (HuggingFaceModel model = HuggingFaceModel.open(golden("gpt2-untied-sgd"))) {
            assertEquals(new Gpt2(8, 32, 2, 16, 50, false, 1e-5).spec(), model.spec());
            // The first two and the last two numbers of each, from another reader of the format.
            assertEnds(model, "wte.weight", Shape.of(50, 32), -0x1.825b34p-5, -0x1.af737p-6, 0.0331105962395668,
                    0.011591900140047073);
            assertEnds(model, "h.7.mlp.c_proj.weight", Shape.of(128, 32), -0x1.ee431p-5, 0x1.9d0b7cp-4,
                    -0.023673096671700478, 0.08231557160615921);
            assertEnds(model, "lm_head.weight", Shape.of(50, 32), -0x1.6f00b2p-8, -0x1.2b9c9p-6, -0.1063695177435875,
                    0.04093301668763161);
        }
        try (HuggingFaceModel model = HuggingFaceModel.open(golden("gpt2-uneven"))) {
            assertEquals(new Gpt2(6, 48, 6, 24, 97, true, 1e-5).spec(), model.spec());
        }
    }

    @Test
    void shouldReadThePrefixAndPassOverBuffers() throws Exception {
        List<NamedTensor> tensors = goldenTensors("transformer."::concat);
        tensors.add(floats("transformer.h.0.attn.bias", Shape.of(1, 1, 16, 16)));
        tensors.add(floats("transformer.h.0.attn.masked_bias", Shape.of(1)));
        copyConfig(UnaryOperator.identity());
        SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of("format", "pt"), tensors);
        assertSameAsGolden(directory);
    }

    @Test
    void shouldTieAHeadThatIsTheTableInWhateverType() throws Exception {
        for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64)) {
            List<NamedTensor> tensors = goldenTensors(UnaryOperator.identity());
            try (HuggingFaceModel golden = HuggingFaceModel.open(golden("gpt2-tied-adamw"))) {
                tensors.add(copyOf(golden, "wte.weight", "lm_head.weight", type));
                copyConfig(UnaryOperator.identity());
                SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of(), tensors);
            }
            assertSameAsGolden(directory);
        }
    }

    /** As transformers 5.18, which does not tie in this case. */
    @Test
    void shouldNotTieAHeadOfOtherValues() throws Exception {
        List<NamedTensor> tensors = goldenTensors(UnaryOperator.identity());
        tensors.add(floats("lm_head.weight", Shape.of(64, 32)));
        copyConfig(UnaryOperator.identity());
        SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of(), tensors);
        Path exported = directory.resolve("exported");
        try (HuggingFaceModel read = HuggingFaceModel.open(directory)) {
            assertEquals(new Gpt2(4, 32, 4, 16, 64, false, 1e-5).spec(), read.spec());
            assertEquals(0, doubles(read, "lm_head.weight", Shape.of(64, 32))[7]);
            assertEquals(
                    List.of("config.json of " + directory + " has tie_word_embeddings = true, but lm_head.weight is"
                            + " not wte.weight: the model has a head of its own then, as in transformers 5"),
                    read.notes());
            List<NamedTensor> all = new ArrayList<>();
            shapes(read.spec()).forEach((name, _) -> all.add(copyOf(read, name, name, DataType.FLOAT64)));
            HuggingFaceModel.write(exported, read.spec(), all);
        }
        try (HuggingFaceModel again = HuggingFaceModel.open(exported)) {
            assertEquals(new Gpt2(4, 32, 4, 16, 64, false, 1e-5).spec(), again.spec());
            assertEquals(List.of(), again.notes());
        }
        tensors.removeLast();
        tensors.add(floats("lm_head.weight", Shape.of(63, 32)));
        SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of(), tensors);
        assertEquals(directory + " lacks what the model needs: lm_head.weight must have shape [64 x 32], but has"
                + " [63 x 32]; use the weights that belong to the configuration", refusal());
    }

    private static NamedTensor copyOf(HuggingFaceModel model, String name, String as, DataType type) {
        Shape shape = shapes(model.spec()).get(name);
        return new NamedTensor(as, shape, type, target -> model.read(name, shape, type, target));
    }

    @ParameterizedTest
    @CsvSource({"NaN, NaN", "-Infinity, -Infinity", "1e39, Infinity"})
    void shouldNameAWeightThatIsNoNumber(double wrong, String shown) throws Exception {
        List<NamedTensor> tensors = goldenTensors(UnaryOperator.identity());
        tensors.removeIf(tensor -> tensor.name().equals("h.2.ln_1.bias"));
        double[] values = new double[32];
        values[5] = wrong;
        tensors.add(NamedTensor.of("h.2.ln_1.bias", Shape.of(32), DataType.FLOAT64, MemorySegment.ofArray(values)));
        copyConfig(UnaryOperator.identity());
        SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of(), tensors);
        try (HuggingFaceModel read = HuggingFaceModel.open(directory)) {
            WeightException refused = assertThrows(WeightException.class, () -> read.read("h.2.ln_1.bias",
                    Shape.of(32), DataType.FLOAT32, MemorySegment.ofArray(new float[32])));
            assertEquals(directory.resolve("model.safetensors") + ": tensor \"h.2.ln_1.bias\" must hold finite numbers,"
                    + " but element 5 is " + shown + "; download the file again, or take weights from before they"
                    + " diverged", refused.getMessage());
        }
    }

    @Test
    void shouldNameKeysThatItDoesNotKnow() throws Exception {
        SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of(),
                goldenTensors(UnaryOperator.identity()));
        copyConfig(text -> text.replace("\"n_ctx\": 16,", "\"n_ctx\": 16, \"use_alibi\": true, \"softcap\": 30.0,"
                + " \"transformers_version\": \"5.18.0\", \"resid_pdrop\": 0.1, \"num_experts\": 0, \"moe\": null,"
                + " \"pruned_heads\": {}, \"score\": NaN,"));
        try (HuggingFaceModel read = HuggingFaceModel.open(directory)) {
            assertEquals(TIED, read.spec());
            assertEquals(
                    List.of("config.json has use_alibi, softcap, score, which a GPT-2 model does not know: what they"
                            + " ask for is not computed"),
                    read.notes());
        }
    }

    @Test
    void shouldTakeADoubleKeyIfItHasOneValueOrNoEffect() throws Exception {
        SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of(),
                goldenTensors(UnaryOperator.identity()));
        copyConfig(text -> text.replace("\"n_ctx\": 16,", "\"n_ctx\": 16, \"n_ctx\": 16, \"torch_dtype\":"
                + " \"float16\", \"torch_dtype\": \"float32\","));
        assertSameAsGolden(directory);
        copyConfig(text -> text.replace("\"n_ctx\": 16,", "\"n_ctx\": 16, \"n_layer\": 5,"));
        assertEquals(directory.resolve("config.json") + " must have n_layer once, but has it as 5 and as 4; take one"
                + " of them out", refusal().replace("as 4 and as 5", "as 5 and as 4"));
    }

    @Test
    void shouldReadShards() throws Exception {
        List<NamedTensor> tensors = goldenTensors(UnaryOperator.identity());
        Predicate<NamedTensor> first = tensor -> tensor.name().startsWith("h.0.");
        SafeTensorsWriter.write(directory.resolve("model-00001-of-00002.safetensors"), Map.of(),
                tensors.stream().filter(first).toList());
        SafeTensorsWriter.write(directory.resolve("model-00002-of-00002.safetensors"), Map.of(),
                tensors.stream().filter(first.negate()).toList());
        List<String> entries = tensors.stream().map(tensor -> "\"%s\": \"model-0000%d-of-00002.safetensors\""
                .formatted(tensor.name(), first.test(tensor) ? 1 : 2)).toList();
        Path index = directory.resolve("model.safetensors.index.json");
        Files.writeString(index, "{\"metadata\": {}, \"weight_map\": {" + String.join(",", entries) + "}}");
        copyConfig(UnaryOperator.identity());
        assertSameAsGolden(directory);

        Files.writeString(index, "{\"weight_map\": {\"wte.weight\": \"../elsewhere.safetensors\"}}");
        assertEquals(index + ": tensor \"wte.weight\" must lie in a .safetensors file of the same directory, but found"
                + " \"\"../elsewhere.safetensors\"\"", refusal());
        Files.writeString(index, "{}");
        assertEquals(index + ": weight_map must be an object of file names, but is missing", refusal());
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2-tied-adamw", "gpt2-untied-sgd", "llama31-rope-scaled", "qwen2-bias-tied",
            "qwen3-qknorm", "mixtral-aux", "qwen3moe", "qwen3moe-dense-between", "glm4moe"})
    void shouldReadBackWhatItWrites(String name) throws Exception {
        Path exported = directory.resolve("out").resolve("model");
        try (HuggingFaceModel golden = HuggingFaceModel.open(golden(name))) {
            List<NamedTensor> doubles = new ArrayList<>();
            shapes(golden.spec()).forEach((tensor, shape) -> doubles.add(new NamedTensor(tensor, shape,
                    DataType.FLOAT64, target -> golden.read(tensor, shape, DataType.FLOAT64, target))));
            HuggingFaceModel.write(exported, golden.spec(), doubles);
            try (HuggingFaceModel read = HuggingFaceModel.open(exported);
                    SafeTensors file = SafeTensors.open(exported.resolve("model.safetensors"))) {
                assertEquals(golden.spec(), read.spec());
                assertEquals(List.of(), golden.notes());
                assertEquals(List.of(), read.notes());
                assertEquals(shapes(golden.spec()).keySet(), Map.copyOf(file.tensors()).keySet());
                assertEquals(Map.of("format", "pt"), file.metadata());
                assertSame(golden, read);
            }
        }
        try (var left = Files.list(exported)) {
            assertEquals(List.of("config.json", "model.safetensors"),
                    left.map(path -> path.getFileName().toString()).sorted().toList());
        }
    }

    @Test
    void shouldKeepTheOldModelIfTheNewOneFails() throws Exception {
        HuggingFaceModel.write(directory, TIED, goldenTensors(UnaryOperator.identity()));
        Files.writeString(directory.resolve("README.md"), "mine");
        assertThrows(IllegalStateException.class,
                () -> HuggingFaceModel.write(directory, TIED, failing(goldenTensors(UnaryOperator.identity()))));
        assertSameAsGolden(directory);
        HuggingFaceModel.write(directory, TIED, goldenTensors(UnaryOperator.identity()));
        assertEquals("mine", Files.readString(directory.resolve("README.md")));
    }

    @Test
    void shouldLeaveNothingIfTheFirstModelFails() throws Exception {
        Path exported = directory.resolve("model");
        assertThrows(IllegalStateException.class,
                () -> HuggingFaceModel.write(exported, TIED, failing(goldenTensors(UnaryOperator.identity()))));
        assertFalse(Files.exists(exported));
    }

    @Test
    void shouldWriteExactlyTheTensorsOfTheModel() throws Exception {
        List<NamedTensor> tensors = goldenTensors(UnaryOperator.identity());
        tensors.add(floats("lm_head.weight", Shape.of(64, 32)));
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
                () -> HuggingFaceModel.write(directory.resolve("model"), TIED, tensors));
        assertTrue(refused.getMessage().endsWith("[lm_head.weight]"), refused.getMessage());
    }

    @Test
    void shouldNameTheFirstTensorsThatAreMissing() throws Exception {
        List<NamedTensor> tensors = goldenTensors(UnaryOperator.identity());
        tensors.removeIf(tensor -> tensor.name().startsWith("h.3.mlp") || tensor.name().startsWith("h.3.ln_2"));
        tensors.removeIf(tensor -> tensor.name().equals("wpe.weight"));
        tensors.add(floats("wpe.weight", Shape.of(15, 32)));
        copyConfig(UnaryOperator.identity());
        SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of(), tensors);
        assertEquals(directory + " lacks what the model needs: wpe.weight must have shape [16 x 32], but has [15 x 32];"
                + " h.3.ln_2.weight is missing; h.3.ln_2.bias is missing; h.3.mlp.c_fc.weight is missing;"
                + " h.3.mlp.c_fc.bias is missing; and 2 more; use the weights that belong to the configuration",
                refusal());
    }

    @Test
    void shouldNameTheMissingFile() throws Exception {
        Path nowhere = directory.resolve("nowhere");
        assertEquals(nowhere + " does not exist: give a directory with config.json and model.safetensors",
                assertThrows(WeightException.class, () -> HuggingFaceModel.open(nowhere)).getMessage());
        String remedy = ": give a directory with config.json and model.safetensors (weights in another format must"
                + " be saved as safetensors first)";
        assertEquals(directory + " has no file config.json" + remedy, refusal());
        copyConfig(UnaryOperator.identity());
        assertEquals(directory + " has no file model.safetensors" + remedy, refusal());
        Path file = directory.resolve("config.json");
        assertEquals(file + " is no directory: give a directory with config.json and model.safetensors",
                assertThrows(WeightException.class, () -> HuggingFaceModel.open(file)).getMessage());
    }

    @Test
    void shouldTakeThePublishedDefaultsAndDropout() throws Exception {
        copyConfig(text -> text.replace("\"tie_word_embeddings\": true,", "").replace("\"n_ctx\": 16,", "")
                .replace("\"layer_norm_epsilon\": 1e-05,", "\"n_inner\": null,")
                .replace("_pdrop\": 0.0", "_pdrop\": 0.1")
                .replace("\"activation_function\": \"gelu_new\",", ""));
        SafeTensorsWriter.write(directory.resolve("model.safetensors"), Map.of(),
                goldenTensors(UnaryOperator.identity()));
        assertSameAsGolden(directory);
    }

    private String refusal() {
        return refusal(directory);
    }

    static String refusal(Path directory) {
        return assertThrows(WeightException.class, () -> HuggingFaceModel.open(directory).close()).getMessage();
    }

    private void copyConfig(UnaryOperator<String> change) throws Exception {
        copyConfig(directory, change);
    }

    static void copyConfig(Path directory, UnaryOperator<String> change) throws Exception {
        String text = Files.readString(golden("gpt2-tied-adamw").resolve("config.json"));
        Files.writeString(directory.resolve("config.json"), change.apply(text));
    }

    private static void assertSameAsGolden(Path directory) throws URISyntaxException {
        try (HuggingFaceModel golden = HuggingFaceModel.open(golden("gpt2-tied-adamw"));
                HuggingFaceModel read = HuggingFaceModel.open(directory)) {
            assertEquals(TIED, read.spec());
            assertSame(golden, read);
        }
    }

    private static Map<String, Shape> shapes(ModelSpec model) {
        Map<String, Shape> shapes = new LinkedHashMap<>();
        model.parameters().forEach((name, parameter) -> shapes.put(name, parameter.shape().sizes()));
        return shapes;
    }

    private static void assertSame(HuggingFaceModel expected, HuggingFaceModel found) {
        shapes(expected.spec()).forEach((name, shape) -> assertArrayEquals(doubles(expected, name, shape),
                doubles(found, name, shape), name));
    }

    private static void assertEnds(HuggingFaceModel model, String name, Shape shape, double... ends) {
        double[] all = doubles(model, name, shape);
        assertArrayEquals(ends, new double[]{all[0], all[1], all[all.length - 2], all[all.length - 1]}, name);
    }

    private static double[] doubles(WeightSource source, String name, Shape shape) {
        MemorySegment target = MemorySegment.ofArray(new double[(int) shape.elementCount()]);
        source.read(name, shape, DataType.FLOAT64, target);
        return target.toArray(ValueLayout.JAVA_DOUBLE);
    }

    private static List<NamedTensor> goldenTensors(UnaryOperator<String> rename) throws Exception {
        List<NamedTensor> tensors = new ArrayList<>();
        try (HuggingFaceModel golden = HuggingFaceModel.open(golden("gpt2-tied-adamw"))) {
            shapes(TIED).forEach((name, shape) -> {
                MemorySegment values = MemorySegment.ofArray(new float[(int) shape.elementCount()]);
                golden.read(name, shape, DataType.FLOAT32, values);
                tensors.add(NamedTensor.of(rename.apply(name), shape, DataType.FLOAT32, values));
            });
        }
        return tensors;
    }

    private static List<NamedTensor> failing(List<NamedTensor> tensors) {
        NamedTensor last = tensors.removeLast();
        tensors.add(new NamedTensor(last.name(), last.shape(), last.type(), _ -> {
            throw new IllegalStateException("device lost");
        }));
        return tensors;
    }

    private static NamedTensor floats(String name, Shape shape) {
        return NamedTensor.of(name, shape, DataType.FLOAT32,
                MemorySegment.ofArray(new float[(int) shape.elementCount()]));
    }

    private static Path golden(String name) throws URISyntaxException {
        return Path.of(HuggingFaceModelTest.class.getResource("/goldens/" + name + "/model").toURI());
    }
}
