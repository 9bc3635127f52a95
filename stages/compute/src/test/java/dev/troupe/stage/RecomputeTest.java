package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.Partition;
import dev.troupe.stage.NaivePipeline.StepResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Recomputed tensors are the same as kept ones, to the bit, and take less memory. */
@Tag("parity")
@Dealt(3)
class RecomputeTest {
    private record Steps(List<StepResult> results, Map<String, double[]> gradients, long bytes) {
    }

    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw, 1, 2, 0", "gpt2-untied-sgd, 4, 1, 0", "gpt2-uneven, 3, 2, 0",
            "gpt2-uneven, 2, 3, 0.2", "mixtral-aux, 2, 2, 0", "qwen3moe-dense-between, 1, 1, 0.2",
            "glm4moe, 2, 2, 0.2"})
    void shouldGiveTheSameBitsInEveryOrder(String name, int stageCount, int microbatchSize, double dropout) {
        try (StageGolden golden = new StageGolden(name)) {
            for (Order order : Order.values()) {
                Steps kept = train(golden, stageCount, microbatchSize, order, Recompute.NONE, dropout);
                for (Recompute recompute : List.of(Recompute.SELECTIVE, Recompute.FULL)) {
                    Steps again = train(golden, stageCount, microbatchSize, order, recompute, dropout);
                    assertEquals(kept.results(), again.results(), recompute + " under " + order);
                    assertEquals(kept.gradients().keySet(), again.gradients().keySet());
                    kept.gradients().forEach((tensor, values) -> assertArrayEquals(values,
                            again.gradients().get(tensor), tensor + ", " + recompute + " under " + order));
                }
            }
        }
    }

    /** Blocks replayed together, and ahead of the gradient. */
    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw, 1, 2, 0", "gpt2-uneven, 2, 3, 0.2", "mixtral-aux, 1, 2, 0"})
    void shouldGiveTheSameBitsHoweverBlocksAreReplayed(String name, int stageCount, int microbatchSize,
            double dropout) {
        try (StageGolden golden = new StageGolden(name)) {
            for (Order order : List.of(Order.WHOLE_BACKWARDS, Order.WEIGHT_GRADIENTS_LATE)) {
                Steps kept = train(golden, stageCount, microbatchSize, order, Recompute.NONE, dropout);
                for (Replay replay : REPLAYS) {
                    Steps again = train(golden, stageCount, microbatchSize, order, replay, dropout);
                    assertEquals(kept.results(), again.results(), replay + " under " + order);
                    kept.gradients().forEach((tensor, values) -> assertArrayEquals(values,
                            again.gradients().get(tensor), tensor + ", " + replay + " under " + order));
                }
            }
        }
    }

    /** All blocks of a stage at once, one, or none in addition to the one that goes back. */
    @Test
    void shouldHoldOnlyTheReplayedActivations() {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED)) {
            long inside = bytes(golden, new Replay(1, 0));
            long one = bytes(golden, new Replay(1, 1));
            long all = bytes(golden, new Replay(1, Replay.ALL));
            assertTrue(inside <= one && one < all, inside + ", " + one + " and " + all + " bytes");
            assertEquals(all, bytes(golden, new Replay(1, golden.model().layers().size())));
        }
    }

    @Test
    void shouldRefuseAReplayThatIsOutOfOrder() {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED);
                NaivePipeline pipeline = pipeline(golden, 1, 1, new Replay(1, 1), 0)) {
            Stage stage = pipeline.stages.getFirst();
            assertEquals("replay of microbatch 0 on stage 0 is out of order: there are no activations of a forward",
                    assertThrows(IllegalStateException.class, () -> stage.recompute(0)).getMessage());
        }
    }

    private static final List<Replay> REPLAYS = List.of(new Replay(2, 0), new Replay(1, Replay.ALL), new Replay(2, 2));

    private static long bytes(StageGolden golden, Replay replay) {
        return train(golden, 2, 1, Order.WHOLE_BACKWARDS, replay, 0).bytes();
    }

    private static Steps train(StageGolden golden, int stageCount, int microbatchSize, Order order, Replay replay,
            double dropout) {
        try (NaivePipeline pipeline = pipeline(golden, stageCount, microbatchSize, replay, dropout)) {
            return train(pipeline, order);
        }
    }

    private static NaivePipeline pipeline(StageGolden golden, int stageCount, int microbatchSize, Replay replay,
            double dropout) {
        return new NaivePipeline(golden, Partition.uniform(golden.model(), stageCount), microbatchSize, golden.initial,
                Recompute.FULL, new DropoutSettings(dropout, 1), DataType.FLOAT64, new NaivePipeline.Shares() {
                    @Override
                    public TensorShare of(int stage, Engine engine) {
                        return TensorShare.ALL;
                    }

                    @Override
                    public Replay replay() {
                        return replay;
                    }
                });
    }

    @Test
    void shouldKeepLessTheMoreIsComputedAgain() {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED)) {
            for (Order order : List.of(Order.ALL_FORWARDS_FIRST, Order.WHOLE_BACKWARDS)) {
                long none = train(golden, 2, 1, order, Recompute.NONE).bytes();
                long selective = train(golden, 2, 1, order, Recompute.SELECTIVE).bytes();
                long full = train(golden, 2, 1, order, Recompute.FULL).bytes();
                assertTrue(full < selective && selective < none,
                        order + ": " + full + ", " + selective + " and " + none + " bytes");
            }
        }
    }

    @Test
    void shouldKeepLessBetweenBackwardsThatComeTogether() {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED)) {
            long apart = train(golden, 1, 1, Order.ONE_FORWARD_ONE_BACKWARD, Recompute.FULL).bytes();
            long together = train(golden, 1, 1, Order.WHOLE_BACKWARDS, Recompute.FULL).bytes();
            assertTrue(together < apart, together + " and " + apart + " bytes");
        }
    }

    private static Steps train(StageGolden golden, int stageCount, int microbatchSize, Order order,
            Recompute recompute) {
        return train(golden, stageCount, microbatchSize, order, recompute, 0);
    }

    private static Steps train(StageGolden golden, int stageCount, int microbatchSize, Order order, Recompute recompute,
            double dropout) {
        try (NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(golden.model(), stageCount),
                microbatchSize, golden.initial, recompute, new DropoutSettings(dropout, 1))) {
            return train(pipeline, order);
        }
    }

    private static Steps train(NaivePipeline pipeline, Order order) {
        StepResult first = pipeline.step(0, order);
        StepResult second = pipeline.gradients(1, order);
        pipeline.stages.forEach(stage -> assertEquals(0, stage.liveActivations()));
        return new Steps(List.of(first, second), pipeline.values(Stage::gradients), pipeline.allocatedBytes());
    }
}
