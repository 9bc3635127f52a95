package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import dev.troupe.partition.Partition;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.weights.WeightSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Experts against finite differences and a dense model, the balance of their loads, and experts without tokens. */
@Tag("parity")
class ExpertsTest {
    @ParameterizedTest
    @CsvSource({"mixtral, 8, 1, NONE", "mixtral-aux, 2, 1, NONE", "mixtral-aux, 2, 3, FULL",
            "qwen3moe, 8, 2, SELECTIVE",
            "qwen3moe-dense-between, 1, 3, NONE"})
    void shouldMeasureTheAuxiliaryLossOfTransformers(String name, int microbatchSize, int stageCount,
            Recompute recompute) {
        try (StageGolden golden = new StageGolden(name);
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(golden.model(), stageCount),
                        microbatchSize, golden.initial, recompute, DropoutSettings.NONE)) {
            int microbatches = golden.batchSize / microbatchSize;
            for (int step = 0; step < golden.steps; step++) {
                pipeline.step(step, Order.ONE_FORWARD_ONE_BACKWARD);
                double sum = 0;
                for (int microbatch = 0; microbatch < microbatches; microbatch++) {
                    sum += ExpertTrials.measure(pipeline, microbatch).auxiliaryLoss();
                }
                assertEquals(golden.auxiliaryLosses[step], sum / microbatches, 1e-9, "step " + step);
                pipeline.validationLoss(step); // counts nothing
            }
        }
    }

    /** Another split has the same bits, and so has a replay, which reads the choices of the forward. */
    @Test
    void shouldMeasureAndChooseOnceUnderEverySplit() {
        try (StageGolden golden = ExpertTrials.golden()) {
            double[] expected = null;
            ModelSpec model = golden.model();
            // In the last one a stage begins with experts.
            for (Partition split : List.of(Partition.uniform(model, 1), Partition.uniform(model, 2),
                    Partition.uniform(model, 4), Partition.of(model, 5, "E|a|mam|am|L"))) {
                for (Recompute recompute : Recompute.values()) {
                    CallCount calls = new CallCount();
                    try (NaivePipeline pipeline = new NaivePipeline(golden, split, 2, golden.initial, recompute,
                            DropoutSettings.NONE, DataType.FLOAT64, calls)) {
                        pipeline.gradients(0, Order.ONE_FORWARD_ONE_BACKWARD);
                        double[] found = IntStream.range(0, 4)
                                .mapToDouble(one -> ExpertTrials.measure(pipeline, one).auxiliaryLoss()).toArray();
                        expected = expected == null ? found : expected;
                        assertArrayEquals(expected, found, recompute + " on " + split.stageCount());
                        assertEquals(3 * 4, calls.routed, "a choice for each layer and microbatch");
                    }
                }
            }
        }
    }

    private static final class CallCount extends ObservedShares {
        private int routed;

        @Override
        void ended(ReferenceEngine engine, Kernel kernel, Tensor result) {
            routed += kernel == Kernel.ROUTE ? 1 : 0;
        }
    }

    /** The weight of one expert gives the router a gradient if it is not divided by itself (Fedus et al. 2022). */
    @Test
    void shouldTrainTheRouterOfASingleExpertIfWeightsAreNotDivided() {
        Map<String, Object> values = new HashMap<>(ExpertTrials.dense());
        values.putAll(Map.of("experts", 4, "experts-per-token", 1, "normalize-weights", false));
        ModelSpec model = ModelFamilies.named("qwen3_moe").read(new Section(values));
        ExpertTrials.requireFiniteDifferences(model, "model.layers.0.mlp.gate.weight",
                List.of("model.layers.0.mlp.gate.weight", "model.layers.0.mlp.experts.1.gate_proj.weight",
                        "model.layers.0.self_attn.q_proj.weight"));
    }

    @Test
    void shouldHaveTheGradientOfFiniteDifferences() {
        ExpertTrials.requireFiniteDifferences(ExpertTrials.mixtral(5, 2, 0.5), ExpertTrials.ROUTER,
                List.of(ExpertTrials.ROUTER, ExpertTrials.EXPERT + "0.w1.weight", ExpertTrials.EXPERT + "3.w2.weight",
                        ExpertTrials.EXPERT + "4.w3.weight",
                        "model.layers.0.post_attention_layernorm.weight", "model.layers.0.self_attn.o_proj.weight",
                        "model.layers.1.block_sparse_moe.gate.weight", "model.embed_tokens.weight"));
    }

    @Test
    void shouldBeTheDenseModelToTheBitWithOneExpert() {
        ModelSpec dense = ModelFamilies.named("llama").read(new Section(ExpertTrials.dense()));
        ModelSpec one = ExpertTrials.mixtral(1, 1, 0.25);
        InitialWeights weights = new InitialWeights(dense, 3);
        InitialWeights ofRouter = new InitialWeights(one, 4);
        WeightSource renamed = (name, shape, type, target) -> (name.endsWith(".gate.weight") ? ofRouter : weights)
                .read(ofDense(name), shape, type, target);
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline expected = ExpertTrials.pipeline(golden, dense, 2, 2, weights);
                NaivePipeline found = ExpertTrials.pipeline(golden, one, 2, 2, renamed)) {
            for (int step = 0; step < 3; step++) {
                StepResult its = expected.gradients(step, Order.WEIGHT_GRADIENTS_LATE);
                StepResult ours = found.gradients(step, Order.WEIGHT_GRADIENTS_LATE);
                assertEquals(its.loss(), ours.loss(), "loss of step " + step);
                assertSameButRouter(expected.values(Stage::gradients), found.values(Stage::gradients));
                // The norm adds the same squares in another order.
                expected.update(step, its);
                found.update(step, its);
            }
            assertSameButRouter(expected.values(Stage::weights), found.values(Stage::weights));
        }
    }

    private static String ofDense(String name) {
        return name.replace("block_sparse_moe.experts.0.w1", "mlp.gate_proj")
                .replace("block_sparse_moe.experts.0.w2", "mlp.down_proj")
                .replace("block_sparse_moe.experts.0.w3", "mlp.up_proj");
    }

    private static void assertSameButRouter(Map<String, double[]> expected, Map<String, double[]> found) {
        assertEquals(expected.size() + 2, found.size());
        found.forEach((name, values) -> {
            if (!name.endsWith("block_sparse_moe.gate.weight")) {
                assertArrayEquals(expected.get(ofDense(name)), values, name);
            }
        });
    }

    @Test
    void shouldOnlyDecayAnExpertWithoutTokensWhateverMemoryHolds() {
        ModelSpec model = ExpertTrials.mixtral(4, 2, 0);
        WeightSource source = ExpertTrials.choosingTheFirst(model, 2);
        ExpertTrials.NotANumber filled = new ExpertTrials.NotANumber();
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(model, 1), 2, source,
                        Recompute.FULL, DropoutSettings.NONE, DataType.FLOAT64, filled)) {
            filled.isOn = true;
            Map<String, double[]> before = pipeline.values(Stage::weights);
            int steps = 20;
            for (int step = 0; step < steps; step++) {
                StepResult result = pipeline.gradients(step % golden.steps, Order.WHOLE_BACKWARDS);
                assertTrue(Double.isFinite(result.loss()) && Double.isFinite(result.norm()), "step " + step);
                Map<String, double[]> gradients = pipeline.values(Stage::gradients);
                for (String matrix : Set.of("2.w1.weight", "2.w2.weight", "3.w3.weight")) {
                    assertTrue(Arrays.stream(gradients.get(ExpertTrials.EXPERT + matrix)).allMatch(value -> value == 0),
                            matrix);
                }
                assertTrue(Arrays.stream(gradients.get(ExpertTrials.EXPERT + "0.w1.weight"))
                        .anyMatch(value -> value != 0));
                pipeline.update(step, result);
            }
            assertTrue(filled.count > 0);
            double kept = Math.pow(1 - golden.learningRate * 0.1, steps);
            double[] last = pipeline.values(Stage::weights).get(ExpertTrials.EXPERT + "3.w2.weight");
            double[] first = before.get(ExpertTrials.EXPERT + "3.w2.weight");
            for (int i = 0; i < last.length; i++) {
                assertEquals(first[i] * kept, last[i], 1e-12 * Math.abs(first[i]));
            }
        }
    }

    /** Ties go to the lower expert, so all tokens go to one if all scores are the same. */
    @Test
    void shouldKeepEveryTokenIfAllChooseTheSameExpert() {
        ModelSpec model = ExpertTrials.mixtral(6, 1, 0.5);
        WeightSource source = new InitialWeights(model, 8);
        for (String router : List.of(ExpertTrials.ROUTER, ExpertTrials.ROUTER.replace("0", "1"))) {
            source = ExpertTrials.changing(source, router, numbers -> Arrays.fill(numbers, 0));
        }
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline pipeline = ExpertTrials.pipeline(golden, model, 2, 2, source)) {
            pipeline.gradients(0, Order.WHOLE_BACKWARDS);
            // f is 1 for expert 0, and P is 1/6 for each.
            assertEquals(1, ExpertTrials.measure(pipeline, 0).auxiliaryLoss(), 1e-12);
            double[] used = pipeline.values(Stage::gradients).get(ExpertTrials.EXPERT + "0.w1.weight");
            assertTrue(Arrays.stream(used).anyMatch(value -> value != 0));
            assertEquals(Shape.of(12, 16).elementCount(), used.length);
        }
    }
}
