package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.layer.DropoutSettings;
import dev.troupe.partition.Partition;
import dev.troupe.stage.NaivePipeline.StepResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is computed again is what would have been kept, to the bit, and takes less room. */
@Tag("parity")
class RecomputeTest {
    private record Steps(List<StepResult> results, Map<String, double[]> gradients, long bytes) {
    }

    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw, 1, 2, 0", "gpt2-untied-sgd, 4, 1, 0", "gpt2-uneven, 3, 2, 0",
            "gpt2-uneven, 2, 3, 0.2"})
    void shouldGiveTheSameBitsInEveryOrder(String name, int stageCount, int microbatchSize, double dropout) {
        try (Golden golden = new Golden(name)) {
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

    @Test
    void shouldKeepLessTheMoreIsComputedAgain() {
        try (Golden golden = new Golden(Golden.UNTIED)) {
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
        try (Golden golden = new Golden(Golden.UNTIED)) {
            long apart = train(golden, 1, 1, Order.ONE_FORWARD_ONE_BACKWARD, Recompute.FULL).bytes();
            long together = train(golden, 1, 1, Order.WHOLE_BACKWARDS, Recompute.FULL).bytes();
            assertTrue(together < apart, together + " and " + apart + " bytes");
        }
    }

    private static Steps train(Golden golden, int stageCount, int microbatchSize, Order order, Recompute recompute) {
        return train(golden, stageCount, microbatchSize, order, recompute, 0);
    }

    private static Steps train(Golden golden, int stageCount, int microbatchSize, Order order, Recompute recompute,
            double dropout) {
        try (NaivePipeline pipeline = new NaivePipeline(golden, Partition.uniform(golden.model(), stageCount),
                microbatchSize, golden.initial, recompute, new DropoutSettings(dropout, 1))) {
            StepResult first = pipeline.step(0, order);
            StepResult second = pipeline.gradients(1, order);
            pipeline.stages.forEach(stage -> assertEquals(0, stage.liveActivations()));
            return new Steps(List.of(first, second), pipeline.values(Stage::gradients), pipeline.allocatedBytes());
        }
    }
}
