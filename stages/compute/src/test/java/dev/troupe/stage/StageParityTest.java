package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.model.ModelSpec;
import dev.troupe.partition.Partition;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.weights.SafeTensors;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Training by stages against PyTorch, and one split against another. */
@Tag("parity")
@Dealt(5)
class StageParityTest {
    private static final double TOLERANCE = 1e-9;

    @ParameterizedTest(name = "{0} as {2} with microbatches of {3}, {4}")
    @CsvSource({
            // The head's gradient of a tied table sits with the embedding's, or on another stage.
            "gpt2-tied-adamw, 1, uniform,              8, ALL_FORWARDS_FIRST",
            "gpt2-tied-adamw, 1, uniform,              2, ONE_FORWARD_ONE_BACKWARD",
            "gpt2-tied-adamw, 2, uniform,              2, ALL_FORWARDS_FIRST",
            "gpt2-tied-adamw, 3, parameters,           1, ONE_FORWARD_ONE_BACKWARD",
            "gpt2-tied-adamw, 4, uniform,              4, ONE_FORWARD_ONE_BACKWARD",
            "gpt2-tied-adamw, 6, E|t|t|t|t|L,          2, WEIGHT_GRADIENTS_LATE",
            "gpt2-untied-sgd, 1, uniform,              4, ALL_FORWARDS_FIRST",
            "gpt2-untied-sgd, 2, Et|t*7L,              2, WEIGHT_GRADIENTS_REVERSED",
            "gpt2-untied-sgd, 3, uniform,              1, ONE_FORWARD_ONE_BACKWARD",
            "gpt2-untied-sgd, 4, Et|(tt|)*2tttL,       2, WEIGHT_GRADIENTS_LATE",
            "gpt2-uneven,     1, uniform,              3, ALL_FORWARDS_FIRST",
            "gpt2-uneven,     2, parameters,           4, ONE_FORWARD_ONE_BACKWARD",
            "gpt2-uneven,     3, Ettt|tt|tL,           2, WEIGHT_GRADIENTS_REVERSED",
            "gpt2-uneven,     4, uniform,              6, ALL_FORWARDS_FIRST",
            "mixtral,         1, uniform,              8, ALL_FORWARDS_FIRST",
            "mixtral,         3, parameters,           1, WEIGHT_GRADIENTS_LATE",
            // The auxiliary loss is of microbatches of two sequences.
            "mixtral-aux,     1, uniform,              2, ALL_FORWARDS_FIRST",
            "mixtral-aux,     2, uniform,              2, ONE_FORWARD_ONE_BACKWARD",
            "mixtral-aux,     5, E|a|mam|am|L,         2, WEIGHT_GRADIENTS_REVERSED",
            "qwen3moe,        4, uniform,              4, ONE_FORWARD_ONE_BACKWARD",
            "qwen3moe-dense-between, 2, uniform,       1, ALL_FORWARDS_FIRST",
            "qwen3moe-dense-between, 3, parameters,    1, WEIGHT_GRADIENTS_LATE",
            "glm4moe,         1, uniform,              8, ALL_FORWARDS_FIRST",
            "glm4moe,         5, Ea|ma|m|a|mL,         2, WEIGHT_GRADIENTS_LATE"})
    void shouldTrainAsPyTorchDoes(String name, int stageCount, String layout, int microbatchSize, Order order) {
        try (StageGolden golden = new StageGolden(name);
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.of(golden.model(), stageCount, layout),
                        microbatchSize)) {
            for (int step = 0; step < golden.steps; step++) {
                StepResult result = pipeline.gradients(step, order);
                assertEquals(golden.losses[step], result.loss(), TOLERANCE * golden.losses[step], "loss of " + step);
                assertEquals(golden.norms[step], result.norm(), TOLERANCE * golden.norms[step], "norm of " + step);
                if (step == 0) {
                    assertClose(golden.firstGradients, pipeline.values(Stage::gradients));
                }
                pipeline.update(step, result);
            }
            assertClose(golden.finalWeights, pipeline.values(Stage::weights));
        }
    }

    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw, 2", "gpt2-untied-sgd, 4", "gpt2-uneven, 3", "mixtral-aux, 2", "glm4moe, 4"})
    void shouldGiveTheSameBitsUnderEverySplitAndOrder(String name, int microbatchSize) {
        try (StageGolden golden = new StageGolden(name)) {
            ModelSpec model = golden.model();
            Trained one = train(golden, Partition.uniform(model, 1), microbatchSize, Order.ALL_FORWARDS_FIRST);
            for (Order order : List.of(Order.ALL_FORWARDS_FIRST, Order.ONE_FORWARD_ONE_BACKWARD,
                    Order.WEIGHT_GRADIENTS_LATE)) {
                for (int stageCount : new int[]{2, 3, 4, model.blockCount() + 2}) {
                    one.assertSameBits(train(golden, Partition.uniform(model, stageCount), microbatchSize, order));
                }
                one.assertSameBits(train(golden, Partition.byParameters(model, 4), microbatchSize, order));
                one.assertSameBits(train(golden, Partition.byParameters(model, model.layers().size()), microbatchSize,
                        order));
            }
        }
    }

    @Test
    void shouldAllocateNothingAfterTheSecondStep() {
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(golden.model(), 3), 2)) {
            pipeline.step(0, Order.ONE_FORWARD_ONE_BACKWARD);
            pipeline.validationLoss(0);
            pipeline.step(1, Order.ONE_FORWARD_ONE_BACKWARD);
            long bytes = pipeline.allocatedBytes();
            for (int step = 2; step < golden.steps; step++) {
                pipeline.step(step, Order.ONE_FORWARD_ONE_BACKWARD);
                pipeline.validationLoss(step);
                assertEquals(bytes, pipeline.allocatedBytes(), "bytes after step " + step);
            }
        }
    }

    @Test
    void shouldKeepTheActivationsOfTheOrder() {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED)) {
            Partition partition = Partition.uniform(golden.model(), 4);
            assertArrayEquals(new int[]{8, 8, 8, 8}, peaks(golden, partition, Order.ALL_FORWARDS_FIRST));
            assertArrayEquals(new int[]{4, 3, 2, 1}, peaks(golden, partition, Order.ONE_FORWARD_ONE_BACKWARD));
        }
    }

    @Test
    void shouldMeasureHeldOutLossWithoutTouchingTheTraining() {
        try (StageGolden golden = new StageGolden(StageGolden.UNEVEN);
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(golden.model(), 2), 4)) {
            for (int step = 0; step < golden.steps; step++) {
                double before = pipeline.validationLoss(step);
                StepResult result = pipeline.step(step, Order.ONE_FORWARD_ONE_BACKWARD);
                assertEquals(result.loss(), before, "a forward is a forward, kept or not, in step " + step);
                assertEquals(golden.losses[step], result.loss(), TOLERANCE * golden.losses[step]);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw, 2, 3", "gpt2-untied-sgd, 4, 1"})
    void shouldContinueBitForBitFromItsState(String name, int stageCount, int otherStageCount) {
        try (StageGolden golden = new StageGolden(name);
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(golden.model(), stageCount), 2);
                NaivePipeline other = new NaivePipeline(golden, Partition.uniform(golden.model(), otherStageCount),
                        2)) {
            Order order = Order.ONE_FORWARD_ONE_BACKWARD;
            for (int step = 0; step < 3; step++) {
                pipeline.step(step, order);
            }
            Map<String, double[]> saved = pipeline.values(Stage::state);
            other.step(0, order);
            other.stages.forEach(stage -> stage.load((tensor, shape, type, target) -> MemorySegment.copy(
                    saved.get(tensor), 0, target, ValueLayout.JAVA_DOUBLE, 0, (int) shape.elementCount())));
            for (int step = 3; step < golden.steps; step++) {
                assertEquals(pipeline.step(step, order), other.step(step, order), "step " + step);
            }
            assertSameBits(pipeline.values(Stage::state), other.values(Stage::state));
        }
    }

    private static int[] peaks(StageGolden golden, Partition partition, Order order) {
        try (NaivePipeline pipeline = new NaivePipeline(golden, partition, 1)) {
            pipeline.step(0, order);
            pipeline.stages.forEach(stage -> assertEquals(0, stage.liveActivations()));
            return pipeline.peakActivations;
        }
    }

    private record Trained(List<StepResult> steps, Map<String, double[]> weights) {
        void assertSameBits(Trained other) {
            assertEquals(steps, other.steps);
            StageParityTest.assertSameBits(weights, other.weights);
        }
    }

    private static Trained train(StageGolden golden, Partition partition, int microbatchSize, Order order) {
        try (NaivePipeline pipeline = new NaivePipeline(golden, partition, microbatchSize)) {
            List<StepResult> steps = new ArrayList<>();
            for (int step = 0; step < 3; step++) {
                steps.add(pipeline.step(step, order));
            }
            return new Trained(steps, pipeline.values(Stage::weights));
        }
    }

    private static void assertSameBits(Map<String, double[]> expected, Map<String, double[]> actual) {
        assertEquals(expected.keySet(), actual.keySet());
        expected.forEach((name, values) -> assertArrayEquals(values, actual.get(name), name));
    }

    /**
     * Each tensor within a billionth of its largest value and the rounding of the file, which stores float32 of what
     * PyTorch had in float64; nothing missing, nothing more.
     */
    static void assertClose(SafeTensors expected, Map<String, double[]> actual) {
        assertEquals(expected.tensors().keySet(), actual.keySet());
        actual.forEach((name, values) -> {
            double[] wanted = read(expected, name, values.length);
            double largest = 1e-3;
            for (double value : wanted) {
                largest = Math.max(largest, Math.abs(value));
            }
            for (int i = 0; i < values.length; i++) {
                double allowed = Math.ulp((float) wanted[i]) / 2 + TOLERANCE * largest;
                assertEquals(wanted[i], values[i], allowed, name + "[" + i + "]");
            }
        });
    }

    private static double[] read(SafeTensors file, String name, int length) {
        int[] shape = file.tensor(name).sizes().stream().mapToInt(Math::toIntExact).toArray();
        double[] values = new double[length];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(ValueLayout.JAVA_DOUBLE, length);
            file.read(name, Shape.of(shape), DataType.FLOAT64, bytes);
            MemorySegment.copy(bytes, ValueLayout.JAVA_DOUBLE, 0, values, 0, length);
        }
        return values;
    }
}
