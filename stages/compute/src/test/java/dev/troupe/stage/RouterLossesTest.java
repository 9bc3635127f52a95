package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Balance;
import dev.troupe.partition.Partition;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The z-loss of routers, the bias of the choice that follows the loads, and the loads themselves. */
@Tag("parity")
class RouterLossesTest {
    private static final String BIAS = "model.layers.1.mlp.gate.e_score_correction_bias";

    @Test
    void shouldHaveTheGradientOfFiniteDifferencesWithBothLosses() {
        ModelSpec model = ExpertTrials.model("mixtral", Map.of("experts", 5, "experts-per-token", 2, "auxiliary-loss",
                0.5, "router-z-loss", 0.25));
        ExpertTrials.requireFiniteDifferences(model, ExpertTrials.ROUTER,
                List.of(ExpertTrials.ROUTER, ExpertTrials.EXPERT + "0.w1.weight", ExpertTrials.EXPERT + "3.w2.weight",
                        ExpertTrials.EXPERT + "4.w3.weight", "model.layers.0.post_attention_layernorm.weight",
                        "model.layers.1.block_sparse_moe.gate.weight", "model.embed_tokens.weight"));
    }

    /** A router of sigmoids, with shared experts. */
    @Test
    void shouldHaveTheGradientOfFiniteDifferencesWithSigmoids() {
        ModelSpec model = ExpertTrials.model("glm4_moe",
                Map.of("experts", 6, "experts-per-token", 2, "expert-groups", 2,
                        "router-z-loss", 0.25, "first-dense-blocks", 0, "routed-scaling-factor", 2.5));
        String inside = "model.layers.0.mlp.";
        ExpertTrials.requireFiniteDifferences(model, inside + "gate.weight",
                List.of(inside + "gate.weight", inside + "experts.0.gate_proj.weight",
                        inside + "shared_experts.down_proj.weight", "model.layers.0.self_attn.q_proj.weight",
                        "model.layers.0.self_attn.k_norm.weight", "model.embed_tokens.weight"));
    }

    /** The sum over layers of the mean squared logarithm; logits of 0 give the logarithm of the number of experts. */
    @Test
    void shouldMeasureTheZLossOverAllLayers() {
        ModelSpec model = ExpertTrials.model("mixtral", Map.of("experts", 6, "router-z-loss", 0.01));
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline pipeline = ExpertTrials.pipeline(golden, model, 2, 2,
                        ExpertTrials.changing(
                                ExpertTrials.changing(new InitialWeights(model, 8), ExpertTrials.ROUTER,
                                        numbers -> Arrays.fill(numbers, 0)),
                                ExpertTrials.ROUTER.replace("0", "1"), numbers -> Arrays.fill(numbers, 0)))) {
            pipeline.gradients(0, Order.WHOLE_BACKWARDS);
            assertEquals(2 * Math.log(6) * Math.log(6), ExpertTrials.measure(pipeline, 0).routerZLoss(), 1e-12);
        }
    }

    /** Reported measures are of the model alone: for every split, number of microbatches and replay, with validation. */
    @Test
    void shouldReportTheSameMeasuresWhateverTheRun() {
        ModelSpec model = ExpertTrials.model("mixtral", Map.of("layers", 3, "experts", 5, "auxiliary-loss", 0.1,
                "router-z-loss", 0.1));
        for (int microbatchSize : new int[]{8, 4, 2, 1}) {
            List<Balance.Measure> expected = null;
            for (int stageCount : new int[]{1, 2, 4}) {
                for (Recompute recompute : Recompute.values()) {
                    List<Balance.Measure> found = new ArrayList<>();
                    try (StageGolden golden = ExpertTrials.golden();
                            NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(model, stageCount),
                                    microbatchSize, new InitialWeights(model, 3), recompute, DropoutSettings.NONE)) {
                        for (int step = 0; step < 2; step++) {
                            if (stageCount == 2) {
                                pipeline.validationLoss(step);
                            }
                            pipeline.step(step, Order.ONE_FORWARD_ONE_BACKWARD);
                            if (stageCount == 4) {
                                pipeline.validationLoss(step);
                            }
                            for (int microbatch = 0; microbatch < 8 / microbatchSize; microbatch++) {
                                found.add(ExpertTrials.measure(pipeline, microbatch));
                            }
                        }
                    }
                    expected = expected == null ? found : expected;
                    assertEquals(expected, found, stageCount + " stages, " + recompute + ", " + microbatchSize);
                }
            }
        }
    }

    /** The numbers of choices in each call of the kernel that counts them. */
    private static final class Counts extends ObservedShares {
        private final List<double[]> byCall = new ArrayList<>();

        @Override
        void ended(ReferenceEngine engine, Kernel kernel, Tensor result) {
            if (kernel == Kernel.ADD_LOADS) {
                double[] numbers = numbers(engine, result);
                byCall.add(Arrays.copyOf(numbers, numbers.length / 2));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mixtral", "mixtral-aux", "qwen3moe", "qwen3moe-dense-between", "glm4moe"})
    void shouldChooseTheExpertsOfTransformers(String name) throws IOException {
        JsonNode expected = new ObjectMapper().readTree(
                Path.of(RouterLossesTest.class.getResource("/goldens/" + name + "/expected.json").getPath()).toFile());
        // An auxiliary loss is of a microbatch.
        int microbatchSize = expected.get("moe").get("router_aux_loss_coef").asDouble() == 0
                ? 4
                : expected.get("moe").get("aux_group_sequences").asInt();
        Counts counts = new Counts();
        try (StageGolden golden = new StageGolden(name);
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(golden.model(), 1), microbatchSize,
                        golden.initial, Recompute.FULL, DropoutSettings.NONE, DataType.FLOAT64, counts)) {
            for (int step = 0; step < golden.steps; step++) {
                counts.byCall.clear();
                pipeline.step(step, Order.ONE_FORWARD_ONE_BACKWARD);
                if (step == 0) {
                    requireCounts(expected.get("tokens_per_expert_step1"), counts.byCall);
                }
            }
            requireCounts(expected.get("tokens_per_expert_last_step"), counts.byCall);
        }
    }

    /** @param found by microbatch and layer */
    private static void requireCounts(JsonNode byLayer, List<double[]> found) {
        List<JsonNode> layers = new ArrayList<>();
        byLayer.forEach(layer -> {
            if (!layer.isEmpty()) {
                layers.add(layer);
            }
        });
        assertEquals(0, found.size() % layers.size());
        for (int layer = 0; layer < layers.size(); layer++) {
            double[] sums = new double[layers.get(layer).size()];
            for (int call = layer; call < found.size(); call += layers.size()) {
                for (int expert = 0; expert < sums.length; expert++) {
                    sums[expert] += found.get(call)[expert];
                }
            }
            double[] wanted = new double[sums.length];
            for (int expert = 0; expert < wanted.length; expert++) {
                wanted[expert] = layers.get(layer).get(expert).asDouble();
            }
            assertArrayEquals(wanted, sums, "layer " + layer);
        }
    }

    private static ModelSpec moving() {
        return ExpertTrials.model("glm4_moe", Map.of("layers", 3, "experts", 6, "experts-per-token", 2,
                "bias-update-rate", 0.01));
    }

    /** By the sign of the load in the step, once, whatever is recomputed, cut or validated. */
    @Test
    void shouldMoveTheBiasByTheSignOfTheLoad() {
        ModelSpec model = moving();
        Set<List<Double>> biases = new HashSet<>();
        for (Recompute recompute : Recompute.values()) {
            for (int stageCount : new int[]{1, 3}) {
                Counts counts = new Counts();
                try (StageGolden golden = ExpertTrials.golden();
                        NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(model, stageCount), 2,
                                new InitialWeights(model, 3), recompute, DropoutSettings.NONE, DataType.FLOAT64,
                                counts)) {
                    double[][] expected = new double[2][6];
                    for (int step = 0; step < 3; step++) {
                        counts.byCall.clear();
                        pipeline.step(step, Order.WEIGHT_GRADIENTS_LATE);
                        if (stageCount == 1) {
                            for (int layer = 0; layer < 2; layer++) {
                                move(expected[layer], sum(counts.byCall, layer, 2));
                                assertArrayEquals(expected[layer], pipeline.values(Stage::weights)
                                        .get(BIAS.replace("1", "" + (layer + 1))), 1e-15);
                            }
                        }
                        pipeline.validationLoss(step);
                    }
                    assertTrue(Arrays.stream(pipeline.values(Stage::weights).get(BIAS)).anyMatch(bias -> bias != 0));
                    biases.add(Arrays.stream(pipeline.values(Stage::weights).get(BIAS)).boxed().toList());
                    assertTrue(pipeline.values(Stage::gradients).keySet().stream().noneMatch(BIAS::equals));
                    assertTrue(pipeline.values(Stage::state).containsKey(BIAS), "a checkpoint has it");
                }
            }
        }
        assertEquals(1, biases.size(), "" + biases);
    }

    private static void move(double[] biases, double[] load) {
        double mean = Arrays.stream(load).sum() / load.length;
        for (int expert = 0; expert < load.length; expert++) {
            biases[expert] -= 0.01 * Math.signum(load[expert] - mean);
        }
    }

    private static double[] sum(List<double[]> calls, int first, int every) {
        double[] sum = new double[calls.getFirst().length];
        for (int call = first; call < calls.size(); call += every) {
            for (int expert = 0; expert < sum.length; expert++) {
                sum[expert] += calls.get(call)[expert];
            }
        }
        return sum;
    }

    /** A bias is no gradient: the norm of the others, and so the clipping, is the same. */
    @Test
    void shouldLeaveTheNormWithoutTheBias() {
        ModelSpec still = ExpertTrials.model("glm4_moe", Map.of("layers", 3, "experts", 6, "experts-per-token", 2));
        try (StageGolden golden = ExpertTrials.golden();
                NaivePipeline one = ExpertTrials.pipeline(golden, still, 1, 2, new InitialWeights(still, 3));
                NaivePipeline other = ExpertTrials.pipeline(golden, moving(), 1, 2, new InitialWeights(still, 3))) {
            assertEquals(one.gradients(0, Order.WHOLE_BACKWARDS), other.gradients(0, Order.WHOLE_BACKWARDS));
        }
    }
}
