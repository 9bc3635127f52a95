package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import dev.troupe.shard.StateTensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The updates of a stage on {@code reference} in float64, against the same arithmetic in plain loops over its gradients. */
@Tag("parity")
class OptimizerStepTest {
    private static final int STEPS = 3;
    private static final double RATE = 0.03;
    private static final double CLIP = 0.4;
    private static final double DECAY = 0.1;

    /** Another implementation of an optimizer: what it makes of a weight, with a memory of its own. */
    @FunctionalInterface
    private interface Oracle {
        /** Changes the weights of a tensor by its gradients, which are scaled already. */
        void update(StateTensor tensor, double[] weights, double[] gradients, int step);
    }

    @ParameterizedTest
    @CsvSource({"0, false", "0.9, false", "0.9, true"})
    void shouldStepAsTorchDoesWithMomentum(double momentum, boolean nesterov) {
        Map<String, double[]> buffers = new HashMap<>();
        Optimizer optimizer = new Optimizer.Sgd(DECAY, momentum, nesterov);
        assertUpdates(optimizer, (tensor, weights, gradients, step) -> {
            double[] buffer = buffers.computeIfAbsent(tensor.name(), _ -> new double[weights.length]);
            for (int i = 0; i < weights.length; i++) {
                double gradient = gradients[i] + (tensor.tensor().shape().rank() > 1 ? DECAY * weights[i] : 0);
                buffer[i] = step == 0 ? gradient : momentum * buffer[i] + gradient;
                double change = momentum == 0 ? gradient : nesterov ? gradient + momentum * buffer[i] : buffer[i];
                weights[i] -= RATE * change;
            }
        }, momentum > 0 ? Set.of("momentum_buffer") : Set.of());
    }

    private static void assertUpdates(Optimizer optimizer, Oracle oracle, Set<String> moments) {
        try (Golden golden = new Golden(Golden.UNTIED);
                Engine engine = new ReferenceEngine(DataType.FLOAT64);
                Stage stage = Stage.create(engine, Partition.uniform(golden.model(), 1), 0,
                        new StageSettings(1, golden.sequenceLength, 1, optimizer), golden.initial)) {
            Map<String, double[]> expected = HostCopies.values(List.of(engine), List.of(stage.weights()));
            for (int step = 0; step < STEPS; step++) {
                stage.forward(0, null, new MicrobatchRows(golden.tokens(0, step, 1, 0), golden.tokens(0, step, 1, 1)));
                stage.backward(0, null);
                Map<String, double[]> gradients = HostCopies.values(List.of(engine), List.of(stage.gradients()));
                for (StateTensor tensor : stage.weights()) {
                    double[] scaled = gradients.get(tensor.name());
                    for (int i = 0; i < scaled.length; i++) {
                        scaled[i] *= CLIP;
                    }
                    oracle.update(tensor, expected.get(tensor.name()), scaled, step);
                }
                stage.optimizerStep(RATE, CLIP, step + 1);
                Map<String, double[]> found = HostCopies.values(List.of(engine), List.of(stage.weights()));
                expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), 1e-12, name));
                HostCopies.values(List.of(engine), List.of(stage.gradients())).forEach((name,
                        left) -> assertArrayEquals(new double[left.length], left, name));
            }
            assertEquals(moments, stage.state().stream().map(StateTensor::name)
                    .filter(name -> name.startsWith("optimizer.")).map(name -> name.split("\\.")[1])
                    .collect(Collectors.toSet()));
        }
    }
}
