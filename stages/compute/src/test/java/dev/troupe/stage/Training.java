package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.shard.StateTensor;
import dev.troupe.stage.NaivePipeline.StepResult;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Pipelines that train together, step by step. */
interface Training {
    /** Returns losses and gradients of a step. */
    StepResult gradients(int step, Order order);

    /** Ends the step. */
    void update(int step, StepResult result);

    /** Returns whole tensors by name. */
    Map<String, double[]> values(Function<Stage, List<StateTensor>> tensors);

    /** Runs two steps of both: losses, norms, gradients and the results at the end are the same. */
    static void assertSame(Training expected, Training found, Order order, double tolerance) {
        for (int step = 0; step < 2; step++) {
            StepResult its = expected.gradients(step, order);
            StepResult ours = found.gradients(step, order);
            assertEquals(its.loss(), ours.loss(), tolerance * its.loss(), "loss of step " + step);
            assertEquals(its.norm(), ours.norm(), tolerance * its.norm(), "norm of step " + step);
            assertClose(expected.values(Stage::gradients), found.values(Stage::gradients), tolerance);
            expected.update(step, its);
            found.update(step, ours);
        }
        assertClose(expected.values(Stage::state), found.values(Stage::state), tolerance);
    }

    private static void assertClose(Map<String, double[]> expected, Map<String, double[]> found, double tolerance) {
        assertEquals(List.copyOf(expected.keySet()), List.copyOf(found.keySet()));
        expected.forEach((name, values) -> {
            double largest = Math.max(1e-3, Arrays.stream(values).map(Math::abs).max().orElseThrow());
            assertArrayEquals(values, found.get(name), tolerance * largest, name);
        });
    }
}
