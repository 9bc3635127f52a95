package dev.troupe.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.model.NaivePipeline.StepResult;
import dev.troupe.model.TensorPipelines.Setup;
import dev.troupe.parallel.Zero;
import dev.troupe.weights.InitialWeights;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks that hold the same weights and share out what belongs to them, against ranks that each keep everything. */
@Tag("parity")
class ZeroTest {
    private static final double TOLERANCE = 1e-9;

    @ParameterizedTest(name = "{0} of {1}, {2} tensor-parallel ranks, sequence parallel {3}, tied {4}, {5} stages, {6}")
    @CsvSource({
            "OPTIMIZER, 2, 1, false, true,  1, ALL_FORWARDS_FIRST,       NONE",
            "OPTIMIZER, 4, 1, false, true,  2, ONE_FORWARD_ONE_BACKWARD, SELECTIVE",
            "OPTIMIZER, 2, 2, true,  false, 2, WHOLE_BACKWARDS,          FULL",
            "OPTIMIZER, 2, 2, false, true,  3, WEIGHT_GRADIENTS_LATE,    NONE"})
    void shouldComeToTheSameBitsWhereTheOptimizerIsSharedOut(Zero zero, int holders, int size, boolean sequence,
            boolean tied, int stageCount, Order order, Recompute recompute) {
        ModelConfig model = new ModelConfig(3, 32, 4, 16, 67, tied, ModelConfig.NORM_EPSILON);
        try (Golden golden = new Golden(Golden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, recompute,
                    DropoutSettings.NONE);
            assertSameTraining(setup, Partition.uniform(model, stageCount), size, sequence, holders, zero, order, 0);
        }
    }

    private static void assertSameTraining(Setup setup, Partition partition, int size, boolean sequence, int holders,
            Zero zero, Order order, double tolerance) {
        try (TensorPipelines each = new TensorPipelines(setup, partition, size, sequence, holders, Zero.NONE);
                TensorPipelines shared = new TensorPipelines(setup, partition, size, sequence, holders, zero)) {
            for (int step = 0; step < 2; step++) {
                StepResult expected = each.gradients(step, order);
                StepResult found = shared.gradients(step, order);
                assertEquals(expected.loss(), found.loss(), tolerance * expected.loss(), "loss of step " + step);
                assertEquals(expected.norm(), found.norm(), tolerance * expected.norm(), "norm of step " + step);
                assertClose(each.values(Stage::gradients), shared.values(Stage::gradients), tolerance);
                each.update(step, expected);
                shared.update(step, found);
            }
            assertClose(each.values(Stage::state), shared.values(Stage::state), tolerance);
        }
    }

    private static void assertClose(Map<String, double[]> expected, Map<String, double[]> found, double tolerance) {
        assertEquals(List.copyOf(expected.keySet()), List.copyOf(found.keySet()));
        expected.forEach((name, values) -> {
            double largest = Math.max(1e-3, Arrays.stream(values).map(Math::abs).max().orElseThrow());
            assertArrayEquals(values, found.get(name), tolerance * largest, name);
        });
    }
}
