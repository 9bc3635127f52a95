package dev.troupe.engine.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Tensor;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests of backward kernels against central differences of their forwards in float64. The objective is sum(dy y) with a
 * random dy, which is the gradient of y.
 *
 * <p>Letters: B microbatch size, T sequence length, N = B T rows, C hidden size, H heads, V vocabulary size, K, M any.
 */
@Tag("parity")
class GradientTest {
    /**
     * The error of (f(x+h) - f(x-h)) / 2h is h^2 f'''/6, about 1e-10, and the rounding of f over h, about 1e-16 x 100 /
     * 1e-5 = 1e-9. A wrong term in a formula exceeds ten times that by far.
     */
    private static final double STEP = 1e-5;
    private static final double TOLERANCE = 1e-8;

    private final Fixture fixture = new Fixture(DataType.FLOAT64, 20240607);
    private final ReferenceEngine engine = fixture.engine;

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void shouldDifferentiateLinear() {
        Tensor x = fixture.random(3, 5); // [N x K]
        Tensor weight = fixture.random(5, 7); // [K x M]
        Tensor bias = fixture.random(7);
        Tensor y = fixture.zeros(3, 7);
        Tensor dy = fixture.random(3, 7);
        Tensor dx = fixture.zeros(3, 5);
        Tensor dWeight = fixture.zeros(5, 7);
        Tensor dBias = fixture.zeros(7);
        engine.matmul(dy, false, weight, true, dx, false);
        engine.matmul(x, true, dy, false, dWeight, true);
        engine.biasBackward(dy, dBias);

        DoubleSupplier objective = () -> {
            engine.linear(x, weight, false, bias, y);
            return dot(y, dy);
        };
        check("dx", x, dx, objective);
        check("dWeight", weight, dWeight, objective);
        check("dBias", bias, dBias, objective);
    }

    @Test
    void shouldDifferentiateGelu() {
        Tensor x = fixture.random(4, 6);
        Tensor weight = fixture.random(6, 5);
        Tensor bias = fixture.random(5);
        Tensor preActivation = fixture.zeros(4, 5);
        Tensor y = fixture.zeros(4, 5);
        Tensor dy = fixture.random(4, 5);
        Tensor dPreActivation = fixture.zeros(4, 5);
        Tensor dx = fixture.zeros(4, 6);
        engine.linearGelu(x, weight, bias, preActivation, y);
        engine.geluBackward(preActivation, dy, dPreActivation);
        engine.matmul(dPreActivation, false, weight, true, dx, false);

        check("dx", x, dx, () -> {
            engine.linearGelu(x, weight, bias, preActivation, y);
            return dot(y, dy);
        });
    }

    @Test
    void shouldDifferentiateLayerNorm() {
        Tensor x = fixture.random(4, 9);
        Tensor gamma = fixture.random(9);
        Tensor beta = fixture.random(9);
        Tensor y = fixture.zeros(4, 9);
        Tensor mean = fixture.zeros(4);
        Tensor reciprocal = fixture.zeros(4);
        Tensor dy = fixture.random(4, 9);
        Tensor dx = fixture.zeros(4, 9);
        Tensor dGamma = fixture.zeros(9);
        Tensor dBeta = fixture.zeros(9);
        engine.layerNorm(null, x, gamma, beta, 1e-5, y, mean, reciprocal);
        engine.layerNormBackwardInput(dy, x, gamma, mean, reciprocal, dx, false);
        engine.layerNormBackwardWeight(dy, x, mean, reciprocal, dGamma, dBeta);

        DoubleSupplier objective = () -> {
            engine.layerNorm(null, x, gamma, beta, 1e-5, y, mean, reciprocal);
            return dot(y, dy);
        };
        check("dx", x, dx, objective);
        check("dGamma", gamma, dGamma, objective);
        check("dBeta", beta, dBeta, objective);
    }

    @Test
    void shouldDifferentiateEmbedding() {
        Tensor tokens = fixture.ints(3, 1, 3, 0, 3, 4); // B = 2, T = 3
        Tensor tokenTable = fixture.random(5, 4);
        Tensor positionTable = fixture.random(7, 4);
        Tensor y = fixture.zeros(6, 4);
        Tensor dy = fixture.random(6, 4);
        Tensor dTokenTable = fixture.zeros(5, 4);
        Tensor dPositionTable = fixture.zeros(7, 4);
        engine.embeddingBackward(tokens, dy, 3, dTokenTable, dPositionTable);

        DoubleSupplier objective = () -> {
            engine.embedding(tokens, tokenTable, positionTable, 3, y);
            return dot(y, dy);
        };
        check("dTokenTable", tokenTable, dTokenTable, objective);
        check("dPositionTable", positionTable, dPositionTable, objective);
    }

    @Test
    void shouldDifferentiateCausalAttention() {
        Tensor qkv = fixture.random(10, 18); // B = 2, T = 5, C = 6
        Tensor state = engine.allocate(DataType.FLOAT64, engine.attentionStateShape(2, 5, 3));
        Tensor y = fixture.zeros(10, 6);
        Tensor dy = fixture.random(10, 6);
        Tensor dQkv = fixture.random(10, 18);
        engine.causalAttention(qkv, 5, 3, state, y);
        engine.causalAttentionBackward(dy, qkv, y, state, 5, 3, dQkv);

        check("dQkv", qkv, dQkv, () -> {
            engine.causalAttention(qkv, 5, 3, state, y);
            return dot(y, dy);
        });
    }

    @Test
    void shouldDifferentiateCausalAttentionThatDropsOut() {
        Dropout dropout = new Dropout(0.3, 3, 2, 1, 5, 3, 0, 0);
        Tensor qkv = fixture.random(10, 18); // B = 2, T = 5, C = 6
        Tensor state = engine.allocate(DataType.FLOAT64, engine.attentionStateShape(2, 5, 3));
        Tensor y = fixture.zeros(10, 6);
        Tensor dy = fixture.random(10, 6);
        Tensor dQkv = fixture.random(10, 18);
        engine.causalAttention(qkv, 5, 3, dropout, state, y);
        engine.causalAttentionBackward(dy, qkv, y, state, 5, 3, dropout, dQkv);

        check("dQkv", qkv, dQkv, () -> {
            engine.causalAttention(qkv, 5, 3, dropout, state, y);
            return dot(y, dy);
        });
    }

    @Test
    void shouldDifferentiateDropout() {
        Dropout dropout = new Dropout(0.5, 3, 2, 1, 5, 9, 2, 1);
        Tensor x = fixture.random(4, 7);
        Tensor y = fixture.zeros(4, 7);
        Tensor dy = fixture.random(4, 7);
        Tensor dx = fixture.zeros(4, 7);
        engine.dropout(dy, dropout, dx);

        check("dx", x, dx, () -> {
            engine.dropout(x, dropout, y);
            return dot(y, dy);
        });
    }

    @Test
    void shouldDifferentiateCrossEntropy() {
        Tensor logits = fixture.random(4, 11);
        Tensor targets = fixture.ints(0, 10, 3, 3);
        Tensor rowLoss = fixture.zeros(4);
        Tensor logSumExp = fixture.zeros(4);
        Tensor sum = fixture.zeros(1);
        Tensor dLogits = fixture.zeros(4, 11);
        engine.crossEntropy(logits, targets, rowLoss, logSumExp);
        engine.crossEntropyBackward(logits, targets, logSumExp, 0.25, dLogits);

        check("dLogits", logits, dLogits, () -> {
            engine.crossEntropy(logits, targets, rowLoss, logSumExp);
            engine.sum(rowLoss, sum, 0);
            return fixture.read(sum)[0] * 0.25;
        });
    }

    private void check(String name, Tensor input, Tensor gradient, DoubleSupplier objective) {
        double[] numbers = fixture.read(input);
        double[] found = fixture.read(gradient);
        for (int i = 0; i < numbers.length; i++) {
            double kept = numbers[i];
            numbers[i] = kept + STEP;
            fixture.write(input, numbers);
            double above = objective.getAsDouble();
            numbers[i] = kept - STEP;
            fixture.write(input, numbers);
            double below = objective.getAsDouble();
            numbers[i] = kept;
            fixture.write(input, numbers);
            double expected = (above - below) / (2 * STEP);
            assertEquals(expected, found[i], TOLERANCE * Math.max(1, Math.abs(expected)), name + "[" + i + "]");
        }
    }

    private double dot(Tensor left, Tensor right) {
        double[] a = fixture.read(left);
        double[] b = fixture.read(right);
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }
}
