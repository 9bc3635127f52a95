package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.shard.BufferLayout;
import dev.troupe.stage.TensorPipelines.Setup;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks with the same weights that share state out, against ranks that each keep everything. */
@Tag("parity")
@Dealt(3)
class ZeroTest {
    private static final double TOLERANCE = 1e-9;

    @ParameterizedTest(name = "{0} of {1}, {2} tensor-parallel ranks, sequence parallel {3}, tied {4}, {5} stages, {6}")
    @CsvSource({
            "OPTIMIZER, 2, 1, false, true,  1, ALL_FORWARDS_FIRST,       NONE",
            "OPTIMIZER, 4, 1, false, true,  2, ONE_FORWARD_ONE_BACKWARD, SELECTIVE",
            "OPTIMIZER, 2, 2, true,  false, 2, WHOLE_BACKWARDS,          FULL",
            "OPTIMIZER, 2, 2, false, true,  3, WEIGHT_GRADIENTS_LATE,    NONE"})
    void shouldComeToTheSameBitsIfTheOptimizerIsSharedOut(Zero zero, int holders, int size, boolean sequence,
            boolean tied, int stageCount, Order order, Recompute recompute) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, tied, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, recompute,
                    DropoutSettings.NONE);
            assertSameTraining(setup, Partition.uniform(model, stageCount), size, sequence, holders, zero, order, 0);
        }
    }

    @ParameterizedTest(name = "{0} of {1}, {2} tensor-parallel ranks, sequence parallel {3}, tied {4}, {5} stages, {6}")
    @CsvSource({
            "GRADIENTS, 2, 1, false, true,  1, ONE_FORWARD_ONE_BACKWARD, NONE",
            "GRADIENTS, 4, 1, false, true,  2, WHOLE_BACKWARDS,          FULL",
            "GRADIENTS, 2, 2, true,  true,  2, WEIGHT_GRADIENTS_LATE,    SELECTIVE",
            "GRADIENTS, 2, 2, true,  false, 1, WHOLE_BACKWARDS,          NONE",
            "WEIGHTS,   2, 1, false, true,  1, WHOLE_BACKWARDS,          NONE",
            "WEIGHTS,   4, 1, false, false, 2, WEIGHT_GRADIENTS_LATE,    SELECTIVE",
            "WEIGHTS,   2, 2, true,  true,  2, ONE_FORWARD_ONE_BACKWARD, FULL",
            "WEIGHTS,   2, 2, true,  false, 3, WHOLE_BACKWARDS,          SELECTIVE",
            "WEIGHTS,   2, 1, false, true,  5, ALL_FORWARDS_FIRST,       FULL"})
    void shouldComeToTheSameBitsIfMoreIsSharedOut(Zero zero, int holders, int size, boolean sequence, boolean tied,
            int stageCount, Order order, Recompute recompute) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, tied, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, recompute,
                    DropoutSettings.NONE);
            assertSameTraining(setup, Partition.uniform(model, stageCount), size, sequence, holders, zero, order,
                    TOLERANCE);
        }
    }

    /** The velocity of momentum is shared out like the moments of AdamW. */
    @ParameterizedTest(name = "{0} of {1}, {2} tensor-parallel ranks, {3} stages")
    @CsvSource({"OPTIMIZER, 2, 1, 2, 0", "OPTIMIZER, 4, 2, 1, 0", "GRADIENTS, 2, 2, 1, 1e-9", "WEIGHTS, 4, 1, 2, 1e-9"})
    void shouldComeToTheSameVelocity(Zero zero, int holders, int size, int stageCount, double tolerance) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED, _ -> new Optimizer.Sgd(0.1, 0.9, true))) {
            Setup setup = Setup.of(golden, new InitialWeights(model, 7), 1);
            assertSameTraining(setup, Partition.uniform(model, stageCount), size, false, holders, zero,
                    Order.WHOLE_BACKWARDS, tolerance);
        }
    }

    /** Weights are gathered for each replay, layer by layer in its order; other shares stay as they are. */
    @ParameterizedTest(name = "{0} of {1}, {2} tensor-parallel ranks, sequence parallel {3}, {4} stages, {5}, {6} and {7}")
    @CsvSource({
            "NONE,      1, 2, true,  2, WHOLE_BACKWARDS,          1, 2",
            "OPTIMIZER, 2, 1, false, 1, ALL_FORWARDS_FIRST,       2, 4",
            "GRADIENTS, 2, 2, false, 2, ONE_FORWARD_ONE_BACKWARD, 3, 0",
            "WEIGHTS,   2, 1, false, 1, WHOLE_BACKWARDS,          1, 2",
            "WEIGHTS,   2, 1, false, 1, WHOLE_BACKWARDS,          2, 4",
            "WEIGHTS,   2, 2, true,  2, ALL_FORWARDS_FIRST,       2, 0",
            "WEIGHTS,   2, 1, false, 1, WEIGHT_GRADIENTS_LATE,    3, 0"})
    void shouldComeToTheSameBitsHoweverBlocksAreReplayed(Zero zero, int holders, int size, boolean sequence,
            int stageCount, Order order, int every, int ahead) {
        ModelSpec model = new Gpt2(4, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, Recompute.FULL,
                    new DropoutSettings(0.1, 3));
            Partition partition = Partition.uniform(model, stageCount);
            try (TensorPipelines inside = new TensorPipelines(setup, partition, size, sequence, holders, zero);
                    TensorPipelines replayed = new TensorPipelines(setup.with(new Replay(every, ahead)), partition,
                            size, sequence, holders, zero)) {
                Training.assertSame(inside, replayed, order, 0);
            }
        }
    }

    @Test
    void shouldComeToTheSameBitsIfWeightsOrOnlyGradientsAreSharedOut() {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, Recompute.SELECTIVE,
                    DropoutSettings.NONE);
            Partition partition = Partition.uniform(model, 1);
            try (TensorPipelines gradients = new TensorPipelines(setup, partition, 1, false, 2, Zero.GRADIENTS);
                    TensorPipelines weights = new TensorPipelines(setup, partition, 1, false, 2, Zero.WEIGHTS)) {
                Training.assertSame(gradients, weights, Order.WHOLE_BACKWARDS, 0);
            }
        }
    }

    @ParameterizedTest(name = "{0} tensor-parallel ranks, sequence parallel {1}, tied {2}, {3} stages, {4}, {5}")
    @CsvSource({
            "1, false, true,  1, WHOLE_BACKWARDS,          NONE,      FLOAT64",
            "2, true,  false, 2, ONE_FORWARD_ONE_BACKWARD, SELECTIVE, FLOAT64",
            "1, false, true,  5, WEIGHT_GRADIENTS_LATE,    FULL,      FLOAT32"})
    void shouldComeToTheSameBitsIfFrozenWeightsAreSharedOut(int size, boolean sequence, boolean tied, int stageCount,
            Order order, Recompute recompute, DataType type) {
        ModelSpec model = adapted(tied);
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, type, recompute, DropoutSettings.NONE);
            Partition partition = Partition.uniform(model, stageCount);
            try (TensorPipelines gradients = new TensorPipelines(setup, partition, size, sequence, 2, Zero.GRADIENTS);
                    TensorPipelines weights = new TensorPipelines(setup, partition, size, sequence, 2, Zero.WEIGHTS)) {
                Training.assertSame(gradients, weights, order, 0);
            }
        }
    }

    /** A rank has a half of all weights, and memory for the weights of two layers. */
    @Test
    void shouldHaveAShareOfTheFrozenWeightsAndTheLayersInUse() {
        ModelSpec model = adapted(false);
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, Recompute.NONE,
                    DropoutSettings.NONE);
            Partition partition = Partition.uniform(model, 1);
            try (TensorPipelines whole = new TensorPipelines(setup, partition, 1, false, 2, Zero.GRADIENTS);
                    TensorPipelines shared = new TensorPipelines(setup, partition, 1, false, 2, Zero.WEIGHTS)) {
                long all = weightBytes(whole);
                double largest = Double.BYTES * model.layers().stream().mapToLong(layer -> layer.parameters().stream()
                        .mapToLong(ParameterSpec::elementCount).sum()).max().orElseThrow();
                double padding = Double.BYTES * 2 * BufferLayout.ALIGNMENT * 2.0 * model.parameters().size();
                double expected = all / 2.0 + 2 * largest;
                assertTrue(Math.abs(weightBytes(shared) - expected) < padding, all + " bytes became "
                        + weightBytes(shared) + ", and not some " + expected);
            }
        }
    }

    private static long weightBytes(TensorPipelines pipelines) {
        return pipelines.ranks.getFirst().stages.getFirst().weightBytes();
    }

    private static ModelSpec adapted(boolean tied) {
        ModelSpec whole = new Gpt2(3, 32, 4, 16, 67, tied, Gpt2.NORM_EPSILON).spec();
        return whole.family().adapted(whole, new Lora(4, 8, List.of(Lora.ALL_LINEAR), ""));
    }

    /**
     * Numbers that each of D ranks sends in a step, of psi weights, in parts of psi (D-1)/D (Rajbhandari et al. 2020,
     * section 7): 2 for the all-reduce, and also for a reduce-scatter and a gather of updated weights in its place.
     * Gradients that are shared out are sent once a microbatch, M of them; shared weights are sent once for its forward and
     * once for its backward, except for the embedding's, which reads none, and not after the update; the gather of the
     * embedding for the next step has begun.
     */
    @ParameterizedTest
    @CsvSource({"2, 4", "4, 1", "4, 2"})
    void shouldSendTheVolumeOfThePaper(int holders, int microbatches) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, false, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7),
                    golden.batchSize / holders / microbatches, DataType.FLOAT64, Recompute.NONE, DropoutSettings.NONE);
            for (Zero zero : Zero.values()) {
                try (TensorPipelines shared = new TensorPipelines(setup, Partition.uniform(model, 1), 1, false, holders,
                        zero)) {
                    shared.step(0, Order.WHOLE_BACKWARDS);
                    shared.ranks.forEach(rank -> rank.stages.forEach(Stage::reshard)); // the gather begun has ended
                    double psi = shared.ranks.getFirst().stages.getFirst().parameterCount();
                    double embedding = (model.size(Axis.VOCABULARY) + model.size(Axis.POSITION))
                            * (double) model.size(Axis.HIDDEN);
                    double expected = (holders - 1.0) / holders * switch (zero) {
                        case NONE, OPTIMIZER -> 2 * psi;
                        case GRADIENTS -> (microbatches + 1) * psi;
                        case WEIGHTS -> microbatches * (3 * psi - embedding) + embedding;
                    };
                    double sent = shared.dataGroups.getFirst().calls().stream()
                            .filter(call -> call.elements() >= BufferLayout.ALIGNMENT * holders)
                            .mapToDouble(call -> call.sentByEach(holders)).sum();
                    double padding = 6.0 * BufferLayout.ALIGNMENT * holders * (3 * microbatches);
                    assertTrue(sent >= expected && sent <= expected + padding,
                            zero + ": expected " + expected + " and up to " + padding + " more, but found " + sent);
                }
            }
        }
    }

    private static void assertSameTraining(Setup setup, Partition partition, int size, boolean sequence, int holders,
            Zero zero, Order order, double tolerance) {
        try (TensorPipelines each = new TensorPipelines(setup, partition, size, sequence, holders, Zero.NONE);
                TensorPipelines shared = new TensorPipelines(setup, partition, size, sequence, holders, zero)) {
            Training.assertSame(each, shared, order, tolerance);
        }
    }
}
