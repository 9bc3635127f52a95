package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Adapters of GPT-2's matrices, which are stored [inputs x outputs]. The oracle is the model with the adapters merged
 * into its weights, in products that this test writes out: of W + s (B A)^T with the gradient G [K x M], the gradient of
 * A [r x K] is s (G B)^T and the gradient of B [M x r] is s G^T A^T.
 */
@Tag("real")
@Dealt(4)
@Timeout(120)
class Gpt2LoraTest {
    private static final Golden GOLDEN = Golden.named(Golden.TIED);
    private static final int BLOCKS = 4;
    private static final int WIDTH = 32;
    private static final int RANK = 3;
    private static final double ALPHA = 6;
    private static final double SCALE = ALPHA / RANK;
    /** Matrices of a block with their inputs and outputs. */
    private static final Map<String, int[]> MATRICES = Map.of("attn.c_attn", new int[]{WIDTH, 3 * WIDTH}, "attn.c_proj",
            new int[]{WIDTH, WIDTH}, "mlp.c_fc", new int[]{WIDTH, 4 * WIDTH}, "mlp.c_proj",
            new int[]{4 * WIDTH, WIDTH});
    private static final List<String> EXACT = List.of("engine.kind=reference", "training.precision=float64");

    @TempDir
    private Path directory;
    private Path adapter;

    /** A of [r x K] and B of [M x r] for W of [K x M], by the names of the model. */
    private record Pair(double[] down, double[] up, int inputs, int outputs) {
        /** s (B A)^T, [K x M]. */
        double[] product() {
            double[] product = new double[inputs * outputs];
            for (int k = 0; k < inputs; k++) {
                for (int m = 0; m < outputs; m++) {
                    for (int r = 0; r < RANK; r++) {
                        product[k * outputs + m] += SCALE * up[m * RANK + r] * down[r * inputs + k];
                    }
                }
            }
            return product;
        }

        double[] downGradient(double[] ofMerged) {
            double[] gradient = new double[down.length];
            for (int r = 0; r < RANK; r++) {
                for (int k = 0; k < inputs; k++) {
                    for (int m = 0; m < outputs; m++) {
                        gradient[r * inputs + k] += SCALE * ofMerged[k * outputs + m] * up[m * RANK + r];
                    }
                }
            }
            return gradient;
        }

        double[] upGradient(double[] ofMerged) {
            double[] gradient = new double[up.length];
            for (int m = 0; m < outputs; m++) {
                for (int r = 0; r < RANK; r++) {
                    for (int k = 0; k < inputs; k++) {
                        gradient[m * RANK + r] += SCALE * ofMerged[k * outputs + m] * down[r * inputs + k];
                    }
                }
            }
            return gradient;
        }
    }

    private static Map<String, Pair> pairs() {
        Random random = new Random(19);
        Map<String, Pair> pairs = new LinkedHashMap<>();
        for (int block = 0; block < BLOCKS; block++) {
            for (String matrix : MATRICES.keySet().stream().sorted().toList()) {
                int[] sizes = MATRICES.get(matrix);
                pairs.put("h." + block + "." + matrix, new Pair(drawn(random, RANK * sizes[0]),
                        drawn(random, sizes[1] * RANK), sizes[0], sizes[1]));
            }
        }
        return pairs;
    }

    /** Numbers that float32 has too. */
    private static double[] drawn(Random random, int count) {
        return random.doubles(count).map(value -> (float) (0.2 * (value - 0.5))).toArray();
    }

    /** An adapter as PEFT writes it for {@code GPT2LMHeadModel}. */
    @BeforeEach
    void writeAdapter() throws IOException {
        adapter = Files.createDirectories(directory.resolve("adapter"));
        List<NamedTensor> tensors = new ArrayList<>();
        pairs().forEach((matrix, pair) -> {
            String name = "base_model.model.transformer." + matrix;
            tensors.add(tensor(name + ".lora_A.weight", Shape.of(RANK, pair.inputs), pair.down));
            tensors.add(tensor(name + ".lora_B.weight", Shape.of(pair.outputs, RANK), pair.up));
        });
        SafeTensorsWriter.write(adapter.resolve("adapter_model.safetensors"), Map.of("format", "pt"), tensors);
        Files.writeString(adapter.resolve("adapter_config.json"), """
                {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 3, "lora_alpha": 6, "bias": "none",
                 "target_modules": ["c_attn", "c_proj", "c_fc"], "fan_in_fan_out": true}
                """);
    }

    private static NamedTensor tensor(String name, Shape shape, double[] values) {
        return NamedTensor.of(name, shape, DataType.FLOAT64, MemorySegment.ofArray(values));
    }

    private static List<String> settings(String... more) {
        List<String> settings = GOLDEN.settings("training.microbatch-size=1", "training.steps=2");
        settings.addAll(EXACT);
        settings.addAll(List.of(more));
        return settings;
    }

    private List<String> adapted(String... more) {
        List<String> settings = settings("model.adapter=" + adapter);
        settings.addAll(List.of(more));
        return settings;
    }

    private Path train(String name, List<String> settings, String... options) {
        Execution.train(directory.resolve(name), settings, options).requireDone();
        return directory.resolve(name);
    }

    /** The model with the adapters merged, in float64. */
    private Path merged() throws IOException {
        Path model = Files.createDirectories(directory.resolve("merged"));
        Files.copy(GOLDEN.model().resolve("config.json"), model.resolve("config.json"));
        List<NamedTensor> tensors = new ArrayList<>();
        mergedWeights().forEach((name, values) -> tensors.add(tensor(name, shape(name, values.length), values)));
        SafeTensorsWriter.write(model.resolve("model.safetensors"), Map.of("format", "pt"), tensors);
        return model;
    }

    private static Map<String, double[]> mergedWeights() {
        Map<String, double[]> weights = RunFiles.tensors(GOLDEN.model().resolve("model.safetensors"));
        pairs().forEach((matrix, pair) -> {
            String name = weights.keySet().stream().filter(one -> one.endsWith(matrix + ".weight")).findFirst()
                    .orElseThrow();
            double[] product = pair.product();
            weights.computeIfPresent(name, (_, values) -> {
                for (int i = 0; i < values.length; i++) {
                    values[i] += product[i];
                }
                return values;
            });
        });
        return weights;
    }

    private static Shape shape(String name, int count) {
        String end = name.substring(0, name.length() - ".weight".length() * (name.endsWith(".weight") ? 1 : 0));
        int[] sizes = MATRICES.entrySet().stream()
                .filter(entry -> name.endsWith(".weight") && end.endsWith(entry.getKey())).map(Map.Entry::getValue)
                .findFirst().orElse(null);
        if (sizes != null) {
            return Shape.of(sizes);
        }
        return name.contains("wte") || name.contains("wpe") ? Shape.of(count / WIDTH, WIDTH) : Shape.of(count);
    }

    @Test
    void shouldHaveTheGradientsOfTheMergedModel() throws IOException {
        Path whole = train("whole", settings("model.from=" + merged(), "training.steps=1"), "--save-gradients", "0");
        Path run = train("run", adapted("training.steps=1", "parallel.pipeline=2", "parallel.tensor=2"),
                "--save-gradients", "0");
        assertEquals(RunFiles.metrics(whole, "loss")[0], RunFiles.metrics(run, "loss")[0], 1e-12);
        Map<String, double[]> ofMerged = RunFiles.tensors(whole.resolve("gradients-step-0.safetensors"));
        Map<String, double[]> found = RunFiles.tensors(run.resolve("gradients-step-0.safetensors"));
        Map<String, double[]> expected = new TreeMap<>();
        pairs().forEach((matrix, pair) -> {
            double[] gradient = ofMerged.get(matrix + ".weight");
            expected.put(matrix + ".lora_A.weight", pair.downGradient(gradient));
            expected.put(matrix + ".lora_B.weight", pair.upGradient(gradient));
        });
        assertEquals(expected.keySet(), found.keySet());
        expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), near(values), name));
    }

    /** The files have float32. */
    private static double near(double[] values) {
        return 1e-6 * Arrays.stream(values).map(Math::abs).max().orElseThrow();
    }

    @Test
    void shouldWriteTheAdapterAsPeftDoesAndTheMergedModelOnRequest() throws IOException {
        // At a rate of almost zero the adapter goes out as it came in.
        Path run = train("run", adapted("training.steps=1", "training.learning-rate.peak=1e-30",
                "training.optimizer.weight-decay=0"));
        assertEquals(RunFiles.tensors(adapter.resolve("adapter_model.safetensors")).keySet(),
                RunFiles.tensors(RunFiles.exportedAdapter(run)).keySet());
        String config = Files.readString(run.resolve("model").resolve("adapter_config.json"));
        assertTrue(config.contains("\"fan_in_fan_out\" : true"), config);
        Path again = train("again", settings("model.adapter=" + run.resolve("model"), "training.steps=1"));
        assertEquals(RunFiles.metrics(run, "loss")[0], RunFiles.metrics(again, "loss")[0]);
        Execution.of(List.of("export", run.toString(), "--merge", "--out", directory.resolve("out").toString()))
                .requireDone();
        Map<String, double[]> exported = RunFiles
                .tensors(directory.resolve("out").resolve("model.safetensors"));
        Map<String, double[]> expected = mergedWeights();
        exported.forEach((name, values) -> {
            double[] wanted = expected.containsKey(name) ? expected.get(name) : expected.get("transformer." + name);
            assertArrayEquals(wanted, values, near(wanted), name);
        });
        assertTrue(exported.size() >= expected.size() - 1);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            2, 1, 1, zbv,   training.recompute=selective
            1, 2, 2, gpipe, training.zero=3
            """)
    void shouldTrainTheSameAdaptersOnGrids(int pipeline, int tensor, int data, String schedule, String more) {
        requireTheSame(pipeline, tensor, data, schedule, more);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource(textBlock = """
            1, 2, 2, 1f1b,  training.zero=1
            2, 1, 2, 1f1b,  training.zero=2
            2, 1, 2, zbv,   training.zero=3
            2, 2, 1, 1f1b,  parallel.sequence=true
            1, 1, 2, 1f1b,  training.recompute=full
            4, 2, 1, gpipe, training.recompute=selective
            """)
    void shouldTrainTheSameAdaptersOnMoreGrids(int pipeline, int tensor, int data, String schedule, String more) {
        requireTheSame(pipeline, tensor, data, schedule, more);
    }

    private void requireTheSame(int pipeline, int tensor, int data, String schedule, String more) {
        String drops = "training.lora.dropout=0.2";
        Path one = train("one", adapted(drops));
        Path run = train("run", adapted(drops, "parallel.pipeline=" + pipeline, "parallel.tensor=" + tensor,
                "parallel.data=" + data, "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + (schedule.equals("zbv") ? 2 : 1), more));
        assertArrayEquals(RunFiles.metrics(one, "loss"), RunFiles.metrics(run, "loss"), 1e-9);
        assertArrayEquals(RunFiles.metrics(one, "gradient_norm"), RunFiles.metrics(run, "gradient_norm"), 1e-9);
        Map<String, double[]> expected = RunFiles.tensors(RunFiles.exportedAdapter(one));
        Map<String, double[]> found = RunFiles.tensors(RunFiles.exportedAdapter(run));
        assertEquals(expected.keySet(), found.keySet());
        expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), near(values), name));
        assertFalse(expected.isEmpty());
    }

    @Test
    void shouldBeginWithTheModelAsItIsAndResumeOnAnotherGrid() {
        Path whole = train("base", settings("training.steps=1"));
        List<String> fresh = settings("training.lora.rank=2", "training.lora.targets=[c_proj]");
        Path run = train("run", fresh);
        double[] losses = RunFiles.metrics(run, "loss");
        assertEquals(RunFiles.metrics(whole, "loss")[0], losses[0], 1e-12);
        assertNotEquals(RunFiles.metrics(whole, "loss")[0], losses[1], 1e-6);
        assertEquals(4 * BLOCKS, RunFiles.tensors(RunFiles.exportedAdapter(run)).size());
        List<String> shorter = new ArrayList<>(fresh);
        shorter.add("training.steps=1");
        Path cut = train("cut", shorter);
        Execution.resume(cut, "-s", "training.steps=2", "-s", "parallel.pipeline=2", "-s", "parallel.tensor=2")
                .requireDone();
        assertArrayEquals(losses, RunFiles.metrics(cut, "loss"), 1e-9);
    }

    @Tag("long")
    @Test
    void shouldTrainOnTheFastEnginesToo() {
        double[] expected = RunFiles.metrics(train("one", adapted()), "loss");
        Path fast = train("cpu", adapted("engine.kind=cpu", "training.precision=float32"));
        assertArrayEquals(expected, RunFiles.metrics(fast, "loss"), 1e-4);
        Path rounded = train("bf16", adapted("engine.kind=cpu", "training.precision=bfloat16"));
        assertArrayEquals(expected, RunFiles.metrics(rounded, "loss"), 2e-2);
    }

    @Test
    void shouldRefuseTargetsThatGpt2DoesNotHave() {
        Execution.train(directory.resolve("refused"),
                settings("training.lora.rank=2", "training.lora.targets=[q_proj]"))
                .requireRefused("q_proj is no matrix of a GPT-2 model",
                        "attn.c_attn, attn.c_proj, mlp.c_fc, mlp.c_proj");
    }
}
