package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.Partition;
import dev.troupe.shard.StateTensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The updates of a stage on {@code reference} in float64, against the same arithmetic in plain loops over its gradients. */
@Tag("parity")
class OptimizerStepTest {
    private static final int STEPS = 3;
    private static final double RATE = 0.03;
    private static final double CLIP = 0.4;
    private static final double DECAY = 0.1;

    /** Another implementation of an optimizer, with a state of its own. */
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

    /** The matrices of blocks by Muon, tables, biases and norms by AdamW. */
    @Test
    void shouldStepAsMuonDoesOnMatricesAndAsAdamWOnTheRest() {
        Map<String, double[]> first = new HashMap<>();
        Map<String, double[]> second = new HashMap<>();
        Optimizer optimizer = new Optimizer.Muon(0.95, new Optimizer.AdamW(0.9, 0.99, 1e-8, DECAY));
        assertUpdates(optimizer, (tensor, weights, gradients, step) -> {
            Shape shape = tensor.tensor().shape();
            double[] mean = first.computeIfAbsent(tensor.name(), _ -> new double[weights.length]);
            if (tensor.name().startsWith("h.") && shape.rank() == 2) {
                double[][] ahead = new double[shape.size(0)][shape.size(1)];
                for (int i = 0; i < weights.length; i++) {
                    mean[i] = 0.95 * mean[i] + gradients[i];
                    ahead[i / shape.size(1)][i % shape.size(1)] = gradients[i] + 0.95 * mean[i];
                }
                double[][] update = nearlyOrthogonal(ahead);
                double size = 0.2 * Math.sqrt(Math.max(shape.size(0), shape.size(1)));
                for (int i = 0; i < weights.length; i++) {
                    weights[i] = weights[i] * (1 - RATE * DECAY)
                            - RATE * size * update[i / shape.size(1)][i % shape.size(1)];
                }
            } else {
                double[] square = second.computeIfAbsent(tensor.name(), _ -> new double[weights.length]);
                for (int i = 0; i < weights.length; i++) {
                    mean[i] = 0.9 * mean[i] + 0.1 * gradients[i];
                    square[i] = 0.99 * square[i] + 0.01 * gradients[i] * gradients[i];
                    double change = mean[i] / (1 - Math.pow(0.9, step + 1))
                            / (Math.sqrt(square[i] / (1 - Math.pow(0.99, step + 1))) + 1e-8);
                    weights[i] -= RATE * (change + (shape.rank() > 1 ? DECAY * weights[i] : 0));
                }
            }
        }, Set.of("momentum_buffer", "exp_avg", "exp_avg_sq"));
    }

    /** Five Newton-Schulz steps on the matrix, or on its transposed if it has more rows than columns. */
    private static double[][] nearlyOrthogonal(double[][] matrix) {
        if (matrix.length > matrix[0].length) {
            return transposed(nearlyOrthogonal(transposed(matrix)));
        }
        double squares = Arrays.stream(matrix).flatMapToDouble(Arrays::stream).map(value -> value * value).sum();
        double[][] x = scaled(1 / (Math.sqrt(squares) + 1e-7), matrix);
        for (int step = 0; step < 5; step++) {
            double[][] square = product(x, transposed(x));
            double[][] factor = sum(scaled(-4.7750, square), scaled(2.0315, product(square, square)));
            x = sum(scaled(3.4445, x), product(factor, x));
        }
        return x;
    }

    private static double[][] transposed(double[][] matrix) {
        double[][] result = new double[matrix[0].length][matrix.length];
        for (int i = 0; i < matrix.length; i++) {
            for (int j = 0; j < matrix[0].length; j++) {
                result[j][i] = matrix[i][j];
            }
        }
        return result;
    }

    private static double[][] product(double[][] left, double[][] right) {
        double[][] result = new double[left.length][right[0].length];
        for (int i = 0; i < left.length; i++) {
            for (int j = 0; j < right[0].length; j++) {
                for (int k = 0; k < right.length; k++) {
                    result[i][j] += left[i][k] * right[k][j];
                }
            }
        }
        return result;
    }

    private static double[][] scaled(double factor, double[][] matrix) {
        return Arrays.stream(matrix).map(row -> Arrays.stream(row).map(value -> factor * value).toArray())
                .toArray(double[][]::new);
    }

    private static double[][] sum(double[][] left, double[][] right) {
        double[][] result = scaled(1, left);
        for (int i = 0; i < left.length; i++) {
            for (int j = 0; j < left[0].length; j++) {
                result[i][j] += right[i][j];
            }
        }
        return result;
    }

    /** A tensor-parallel rank has parts of matrices. */
    @Test
    void shouldRefuseMuonOnPartsOfMatrices() {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED);
                Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            StageSettings settings = new StageSettings(1, golden.sequenceLength, 1,
                    new Optimizer.Muon(0.95, new Optimizer.AdamW(0.9, 0.99, 1e-8, DECAY)));
            TensorShare share = new TensorShare(new InMemoryGroup(2).member(0, engine), false);
            String refusal = assertThrows(IllegalArgumentException.class,
                    () -> Stage.create(engine, Partition.uniform(golden.model(), 1), 0, settings, share, DataShare.ALL,
                            golden.initial))
                    .getMessage();
            assertEquals(
                    "Muon takes whole matrices, but the ranks of a tensor-parallel group share h.0.attn.c_attn.weight"
                            + " out: set parallel.tensor to 1, or take another optimizer",
                    refusal);
        }
    }

    private static void assertUpdates(Optimizer optimizer, Oracle oracle, Set<String> moments) {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED);
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
