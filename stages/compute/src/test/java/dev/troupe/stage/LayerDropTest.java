package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.layer.drop.LayerDrop;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.Partition;
import dev.troupe.stage.NaivePipeline.StepResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Halves of blocks that microbatches drop (Zhang and He 2020). */
@Tag("parity")
class LayerDropTest {
    /** From step 1 on nearly the limit: the last of L blocks is kept with (1 + 0.2 (L - 1)) / L. */
    private static final LayerDrop HALF = new LayerDrop(0.2, 20, 2, true);

    private static DropoutSettings dropping(LayerDrop layers, double dropout) {
        return new DropoutSettings(dropout, 0, layers, 7);
    }

    /** Steps 1 and 2, since step 0 drops nothing. */
    private record Trained(List<StepResult> steps, Map<String, double[]> weights) {
    }

    private record Way(int stages, Order order, Recompute recompute, Replay replay) implements NaivePipeline.Shares {
        @Override
        public TensorShare of(int stage, Engine engine) {
            return TensorShare.ALL;
        }
    }

    private static NaivePipeline pipeline(StageGolden golden, Way way, DropoutSettings settings) {
        return new NaivePipeline(golden, Partition.uniform(golden.model(), way.stages()), 1, golden.initial,
                way.recompute(), settings, DataType.FLOAT64, way);
    }

    private static Trained train(StageGolden golden, Way way, DropoutSettings settings) {
        try (NaivePipeline pipeline = pipeline(golden, way, settings)) {
            List<StepResult> steps = new ArrayList<>();
            for (int step = 0; step < 3; step++) {
                steps.add(pipeline.step(step, way.order()));
            }
            return new Trained(steps, pipeline.values(Stage::weights));
        }
    }

    private static LayerDrop ofModel(StageGolden golden) {
        return new LayerDrop(HALF.keep(), HALF.decay(), golden.model().blockCount(), true);
    }

    /** Whatever cuts, orders and recomputes the same halves. */
    @ParameterizedTest
    @CsvSource({StageGolden.TIED + ", 0", StageGolden.UNEVEN + ", 0.1"})
    void shouldGiveTheSameBitsUnderEverySplitOrderAndRecomputation(String name, double dropout) {
        try (StageGolden golden = new StageGolden(name)) {
            DropoutSettings settings = dropping(ofModel(golden), dropout);
            Trained one = train(golden, new Way(1, Order.ALL_FORWARDS_FIRST, Recompute.NONE, Replay.INSIDE), settings);
            for (Way way : List.of(new Way(2, Order.ONE_FORWARD_ONE_BACKWARD, Recompute.NONE, Replay.INSIDE),
                    new Way(4, Order.WEIGHT_GRADIENTS_LATE, Recompute.SELECTIVE, Replay.INSIDE),
                    new Way(4, Order.WHOLE_BACKWARDS, Recompute.FULL, Replay.INSIDE),
                    new Way(1, Order.WHOLE_BACKWARDS, Recompute.FULL, new Replay(2, 0)),
                    new Way(1, Order.ONE_FORWARD_ONE_BACKWARD, Recompute.FULL, new Replay(3, Replay.ALL)),
                    new Way(2, Order.WEIGHT_GRADIENTS_LATE, Recompute.FULL, new Replay(2, Replay.ALL)))) {
                Trained other = train(golden, way, settings);
                assertEquals(one.steps(), other.steps(), way.toString());
                one.weights().forEach((tensor, values) -> assertArrayEquals(values, other.weights().get(tensor),
                        tensor + " with " + way));
            }
            assertNotEquals(one.steps(), train(golden,
                    new Way(1, Order.ALL_FORWARDS_FIRST, Recompute.NONE, Replay.INSIDE),
                    dropping(LayerDrop.NONE, dropout)).steps());
        }
    }

    @Test
    void shouldDropNothingInTheFirstStepNorWithACertainGateNorInALossThatIsMeasured() {
        Way way = new Way(2, Order.ONE_FORWARD_ONE_BACKWARD, Recompute.NONE, Replay.INSIDE);
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Trained none = train(golden, way, DropoutSettings.NONE);
            Trained certain = train(golden, way, dropping(new LayerDrop(1, 3, golden.model().blockCount(), true), 0));
            assertEquals(none.steps(), certain.steps());
            none.weights()
                    .forEach((tensor, values) -> assertArrayEquals(values, certain.weights().get(tensor), tensor));
            Trained dropped = train(golden, way, dropping(ofModel(golden), 0));
            assertEquals(none.steps().getFirst(), dropped.steps().getFirst());
            assertNotEquals(none.steps().get(1), dropped.steps().get(1));
            try (NaivePipeline whole = pipeline(golden, way, DropoutSettings.NONE);
                    NaivePipeline gated = pipeline(golden, way, dropping(ofModel(golden), 0))) {
                assertEquals(whole.validationLoss(5), gated.validationLoss(5));
            }
        }
    }

    /** A norm for each half that is computed, and one for the head. */
    @Test
    void shouldComputeAsManyHalvesAsGatesAreOpen() {
        AtomicInteger norms = new AtomicInteger();
        NaivePipeline.Shares counting = new NaivePipeline.Shares() {
            @Override
            public TensorShare of(int stage, Engine engine) {
                return TensorShare.ALL;
            }

            @Override
            public Engine engine(DataType parameterType) {
                Engine engine = new ReferenceEngine(parameterType);
                return WrappedEngine.of((method, arguments) -> {
                    norms.addAndGet(method.getName().equals("layerNorm") ? 1 : 0);
                    return WrappedEngine.call(engine, method, arguments);
                });
            }
        };
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            DropoutSettings settings = dropping(ofModel(golden), 0);
            int blocks = golden.model().blockCount();
            try (NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(golden.model(), 2), 1,
                    golden.initial, Recompute.NONE, settings, DataType.FLOAT64, counting)) {
                for (int step = 0; step < 4; step++) {
                    norms.set(0);
                    pipeline.gradients(step, Order.ONE_FORWARD_ONE_BACKWARD);
                    int open = 0;
                    for (int microbatch = 0; microbatch < golden.batchSize; microbatch++) {
                        for (int block = 1; block <= blocks; block++) {
                            open += isOpen(settings, step, microbatch, block, DropoutKey.Site.ATTENTION_OUTPUT);
                            open += isOpen(settings, step, microbatch, block, DropoutKey.Site.MLP_OUTPUT);
                        }
                    }
                    assertTrue(step == 0 ? open == 2 * blocks * golden.batchSize : open < 2 * blocks * golden.batchSize,
                            open + " halves");
                    assertEquals(open + golden.batchSize, norms.get(), "step " + step);
                }
            }
        }
    }

    private static int isOpen(DropoutSettings settings, long step, int microbatch, int block, DropoutKey.Site half) {
        return settings.keyOf(step, microbatch, 1, 1).ofHalf(block, half) == 0 ? 0 : 1;
    }

    /** 4 standard deviations of a mean of 10^4 draws; the two halves of a block are drawn apart. */
    @Test
    void shouldKeepTheMeanAddendOfEveryHalf() {
        int blocks = 12;
        int draws = 10_000;
        LayerDrop drop = new LayerDrop(0.5, 0.1, blocks, true);
        DropoutSettings settings = dropping(drop, 0);
        double meanOpen = 0;
        for (int block = 1; block <= blocks; block++) {
            double keeps = 1 - drop.dropProbability(200, block);
            double sum = 0;
            int same = 0;
            for (int draw = 0; draw < draws; draw++) {
                DropoutKey key = settings.keyOf(200, draw, 1, 1);
                double attention = key.ofHalf(block, DropoutKey.Site.ATTENTION_OUTPUT);
                double mlp = key.ofHalf(block, DropoutKey.Site.MLP_OUTPUT);
                sum += mlp;
                same += attention == mlp ? 1 : 0;
                assertTrue(mlp == 0 || Math.abs(mlp * keeps - 1) < 1e-12, "a factor of " + mlp);
            }
            assertEquals(1, sum / draws, 4 * Math.sqrt((1 - keeps) / keeps / draws), "block " + block);
            double agree = keeps * keeps + (1 - keeps) * (1 - keeps);
            assertEquals(agree, (double) same / draws, 4 * Math.sqrt(agree * (1 - agree) / draws), "block " + block);
            meanOpen += keeps / blocks;
        }
        assertEquals(0.771, meanOpen, 1e-3, "of l = 0 .. L-1, as in algorithm 1");
        assertEquals(1, new LayerDrop(0.5, 100.0 / 300, blocks, true).meanKeepProbability(300, 1));
        double mean = 0;
        for (int step = 0; step < 1000; step++) {
            mean += (1 - new LayerDrop(0.5, 0.004, blocks, true).dropProbability(step, blocks)) / 1000;
        }
        assertEquals(mean, new LayerDrop(0.5, 0.004, blocks, true).meanKeepProbability(1000, blocks), 1e-3);
    }

    /** A half that all microbatches drop has gradients of 0; AdamW decays its weights all the same. */
    @Test
    void shouldGiveADroppedHalfNoGradientButDecay() {
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            int last = golden.model().blockCount();
            LayerDrop rare = new LayerDrop(1e-6, 20, last, true);
            long step = 1;
            while (isOpenAnywhere(golden, rare, step, last)) {
                step++;
                assertTrue(step < 100_000, "every step keeps an MLP half of the last block");
            }
            Way way = new Way(1, Order.ALL_FORWARDS_FIRST, Recompute.NONE, Replay.INSIDE);
            try (NaivePipeline pipeline = pipeline(golden, way, dropping(rare, 0))) {
                Stage stage = pipeline.stages.getFirst();
                String name = golden.model().layers().get(golden.model().layers().size() - 2).parameters().stream()
                        .map(ParameterSpec::name).filter(each -> each.endsWith("c_fc.weight")).findFirst()
                        .orElseThrow();
                double[] before = pipeline.values(Stage::weights).get(name);
                stage.enterStep(step, 0);
                for (int microbatch = 0; microbatch < golden.batchSize; microbatch++) {
                    stage.forward(microbatch, null, new MicrobatchRows(
                            golden.tokens(0, microbatch, 1, 0), golden.tokens(0, microbatch, 1, 1)));
                    stage.backward(microbatch, null);
                }
                for (double gradient : pipeline.values(Stage::gradients).get(name)) {
                    assertEquals(0, gradient);
                }
                stage.optimizerStep(0.01, 1, 1);
                double[] after = pipeline.values(Stage::weights).get(name);
                double kept = 1 - 0.01 * ((Optimizer.AdamW) golden.optimizer).weightDecay();
                assertTrue(kept < 1);
                for (int i = 0; i < before.length; i++) {
                    assertEquals(kept * before[i], after[i], 1e-12 * Math.abs(before[i]));
                }
            }
        }
    }

    private static boolean isOpenAnywhere(StageGolden golden, LayerDrop drop, long step, int block) {
        for (int microbatch = 0; microbatch < golden.batchSize; microbatch++) {
            if (isOpen(dropping(drop, 0), step, microbatch, block, DropoutKey.Site.MLP_OUTPUT) == 1) {
                return true;
            }
        }
        return false;
    }

    /** A small step of the weights changes the loss by the gradient, under the same gates. */
    @Test
    void shouldGiveTheGradientOfWhatItComputes() {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED);
                NaivePipeline start = pipeline(golden,
                        new Way(2, Order.ONE_FORWARD_ONE_BACKWARD, Recompute.NONE, Replay.INSIDE),
                        dropping(ofModel(golden), 0))) {
            start.assertGradientOfLoss(1);
        }
    }
}
