package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.engine.router.Router;
import dev.troupe.engine.router.SigmoidRouter;
import dev.troupe.engine.router.SoftmaxRouter;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Balance;
import dev.troupe.partition.Partition;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Eleven defects of published mixtures of experts, found in issue trackers of 2025 and 2026, each as a test that finds it.
 */
@Tag("parity")
class ExpertPitfallsTest {
    private static final String GATE = "model.layers.0.mlp.gate.weight";

    /** The numbers of the results of some kernels, in the order of calls. */
    private static final class Results extends ObservedShares {
        private final List<double[]> scores = new ArrayList<>();
        private final List<double[]> products = new ArrayList<>();
        private final List<double[]> combined = new ArrayList<>();

        @Override
        void ended(ReferenceEngine engine, Kernel kernel, Tensor result) {
            switch (kernel) {
                case ROUTE -> scores.add(numbers(engine, result));
                case SEGMENT_MATMUL -> products.add(numbers(engine, result));
                case COMBINE_ROWS -> combined.add(numbers(engine, result));
                default -> {
                }
            }
        }
    }

    /** 1: another rounding if a weight is applied before the last product. */
    @Test
    void shouldApplyAWeightAfterTheLastProduct() {
        ModelSpec model = ExpertTrials.model("qwen3_moe",
                Map.of("experts", 2, "experts-per-token", 1, "normalize-weights", false));
        Results results = new Results();
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(model, 1), 8,
                        ExpertTrials.changing(new InitialWeights(model, 3), GATE, numbers -> Arrays.fill(numbers, 0)),
                        Recompute.NONE, DropoutSettings.NONE, DataType.FLOAT64, results)) {
            pipeline.validationLoss(0);
        }
        // Scores are equal, so all rows are the first expert's, in their order.
        double[] outputs = results.products.get(2);
        double[] combined = results.combined.getFirst();
        for (int i = 0; i < combined.length; i++) {
            assertEquals(results.scores.getFirst()[i / 16 * 2] * outputs[i], combined[i]);
        }
    }

    /** 2: counts of a forward that is replayed, or only measured. */
    @Test
    void shouldCountAMicrobatchOnce() {
        ModelSpec model = ExpertTrials.mixtral(5, 2, 0.5);
        List<Balance.Measure> found = new ArrayList<>();
        for (Recompute recompute : new Recompute[]{Recompute.NONE, Recompute.FULL}) {
            try (StageGolden golden = ExpertTrials.golden();
                    NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(model, 2), 2,
                            new InitialWeights(model, 3), recompute, DropoutSettings.NONE)) {
                pipeline.validationLoss(0);
                pipeline.gradients(0, Order.ONE_FORWARD_ONE_BACKWARD);
                pipeline.validationLoss(1);
                found.add(ExpertTrials.measure(pipeline, 0));
            }
        }
        assertEquals(found.getFirst(), found.getLast());
        // Even loads give k; counted twice they would give 4 times that.
        assertTrue(found.getFirst().auxiliaryLoss() < 3, "" + found);
    }

    private static double[] weights(Router router, double[] logits, double[] bias, int[] chosen) {
        double[] weights = new double[chosen.length];
        router.forward(logits, bias, new double[logits.length], chosen, weights);
        return weights;
    }

    /** 3: a weight that includes the bias of the choice. */
    @Test
    void shouldWeighWithoutTheBiasOfTheChoice() {
        int[] chosen = new int[1];
        assertArrayEquals(new double[]{0.5},
                weights(new SigmoidRouter(false, 1, 1, 1), new double[3], new double[]{0, 7, 0}, chosen));
        assertArrayEquals(new int[]{1}, chosen);
    }

    /** 4: excluded groups that count 0 win over negative numbers. */
    @Test
    void shouldExcludeGroupsIfAllNumbersAreNegative() {
        int[] chosen = new int[2];
        weights(new SigmoidRouter(true, 2, 1, 1), new double[4], new double[]{-3, -3, -2, -2}, chosen);
        assertArrayEquals(new int[]{2, 3}, chosen);
    }

    /** 5: 0 / 0 if all chosen sigmoids are 0. */
    @Test
    void shouldDivideNothingByNothing() {
        assertArrayEquals(new double[2],
                weights(new SigmoidRouter(true, 1, 1, 1), new double[]{-1e3, -1e3}, null, new int[2]));
    }

    /** 6: a softmax over one chosen logit is 1, without a gradient for the router. */
    @Test
    void shouldTrainARouterOfOneChoiceUnlessItIsDividedByItself() {
        for (boolean normalized : new boolean[]{true, false}) {
            ModelSpec model = ExpertTrials.model("qwen3_moe",
                    Map.of("experts", 4, "experts-per-token", 1, "normalize-weights", normalized));
            try (StageGolden golden = ExpertTrials.golden();
                    NaivePipeline pipeline = ExpertTrials.pipeline(golden, model, 1, 2, new InitialWeights(model, 3))) {
                pipeline.gradients(0, Order.WHOLE_BACKWARDS);
                double[] gradient = pipeline.values(Stage::gradients).get(GATE);
                assertEquals(normalized, Arrays.stream(gradient).allMatch(number -> number == 0));
            }
        }
    }

    /** 7: a softmax of scores in the auxiliary loss. One softmax of far logits gives E f P = E for a single expert. */
    @Test
    void shouldTakeOneSoftmaxForTheAuxiliaryLoss() {
        ModelSpec model = ExpertTrials.mixtral(4, 2, 0.5);
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline pipeline = ExpertTrials.pipeline(golden, model, 1, 2,
                        ExpertTrials.choosingTheFirst(model, 1))) {
            pipeline.gradients(0, Order.WHOLE_BACKWARDS);
            // Of scores, a softmax would be at most e / (e + 3), and the loss at most 4 (0.48 + 0.18).
            assertTrue(ExpertTrials.measure(pipeline, 0).auxiliaryLoss() > 3.9);
        }
    }

    /** 8: memory that was not written. */
    @Test
    void shouldReadNoMemoryThatNobodyWrote() {
        ModelSpec model = ExpertTrials.model("glm4_moe",
                Map.of("experts", 12, "experts-per-token", 1, "first-dense-blocks", 0, "router-z-loss", 0.1));
        ExpertTrials.NotANumber filled = new ExpertTrials.NotANumber();
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(model, 2), 1,
                        new InitialWeights(model, 6), Recompute.FULL, DropoutSettings.NONE, DataType.FLOAT64, filled)) {
            filled.isOn = true;
            for (int step = 0; step < 3; step++) {
                assertTrue(Double.isFinite(pipeline.step(step, Order.WEIGHT_GRADIENTS_LATE).norm()));
                pipeline.values(Stage::weights).forEach((name, numbers) -> assertTrue(
                        Arrays.stream(numbers).allMatch(Double::isFinite), name));
            }
            assertTrue(filled.count > 0);
            assertTrue(ExpertTrials.measure(pipeline, 0).idle() > 0, "an expert without tokens is part of the test");
        }
    }

    /** 9: a router's gradient from a part of the experts. Differences of the loss see all of them. */
    @Test
    void shouldAddTheGradientsOfAllExpertsForTheRouter() {
        ExpertTrials.requireFiniteDifferences(ExpertTrials.mixtral(5, 5, 0), ExpertTrials.ROUTER,
                List.of(ExpertTrials.ROUTER));
    }

    /** 10: another choice by other arithmetic in another place. */
    @Test
    void shouldChooseAlikeOnEveryEngine() {
        Random random = new Random(2);
        float[] logits = new float[512 * 16];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = random.nextInt(40) / 16f; // many ties
        }
        List<int[]> chosen = new ArrayList<>();
        for (Router router : List.of(new SoftmaxRouter(true), new SigmoidRouter(true, 4, 2, 1))) {
            try (Engine reference = new ReferenceEngine(DataType.FLOAT32);
                    Engine one = new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, 1));
                    Engine two = new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, 2))) {
                int[] expected = choose(reference, router, logits);
                assertArrayEquals(expected, choose(one, router, logits));
                assertArrayEquals(expected, choose(two, router, logits));
                chosen.add(expected);
            }
        }
        assertTrue(!Arrays.equals(chosen.getFirst(), chosen.getLast()), "groups change some choices");
    }

    private static int[] choose(Engine engine, Router router, float[] numbers) {
        int[] ids = new int[512 * 3];
        try (Tensor logits = engine.allocate(DataType.FLOAT32, Shape.of(512, 16));
                Tensor scores = engine.allocate(DataType.FLOAT32, Shape.of(512, 16));
                Tensor chosen = engine.allocate(DataType.INT32, Shape.of(512, 3));
                Tensor weights = engine.allocate(DataType.FLOAT32, Shape.of(512, 3))) {
            engine.copyFromHost(MemorySegment.ofArray(numbers), logits, 0);
            engine.route(router, logits, null, scores, chosen, weights);
            engine.copyToHost(chosen, 0, MemorySegment.ofArray(ids));
        }
        return ids;
    }

    /** 11: the same expert twice for a row, which counts of pairs would join. */
    @Test
    void shouldChooseDifferentExpertsForARow() {
        int[] chosen = new int[4];
        for (Router router : List.of(new SoftmaxRouter(true), new SigmoidRouter(true, 2, 2, 1))) {
            for (double[] logits : new double[][]{new double[4], {-1e4, -1e4, -1e4, 1e4},
                    {Double.NaN, Double.NaN, 1, Double.NaN}}) {
                weights(router, logits, null, chosen);
                assertEquals(4, Arrays.stream(chosen).distinct().count(), router + " " + Arrays.toString(chosen));
            }
        }
    }
}
