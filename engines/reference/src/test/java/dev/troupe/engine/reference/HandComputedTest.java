package dev.troupe.engine.reference;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Tensor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of forward kernels and optimizer steps against numbers computed by hand; gradient tests build on these. */
@Tag("parity")
class HandComputedTest {
    /** A few roundings of numbers near 1. */
    private static final double TOLERANCE = 1e-14;

    private final Fixture fixture = new Fixture(DataType.FLOAT64, 1);
    private final ReferenceEngine engine = fixture.engine;

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void shouldMultiplyInAllFourForms() {
        Tensor left = fixture.of(new double[]{1, 2, 3, 4, 5, 6}, 2, 3);
        Tensor leftTurned = fixture.of(new double[]{1, 4, 2, 5, 3, 6}, 3, 2);
        Tensor right = fixture.of(new double[]{1, 0, -1, 2, 3, 1}, 3, 2);
        Tensor rightTurned = fixture.of(new double[]{1, -1, 3, 0, 2, 1}, 2, 3);
        double[] expected = {8, 7, 17, 16};
        Tensor product = fixture.random(2, 2);
        engine.matmul(left, false, right, false, product, false);
        assertArrayEquals(expected, fixture.read(product));
        engine.matmul(leftTurned, true, right, false, product, false);
        assertArrayEquals(expected, fixture.read(product));
        engine.matmul(left, false, rightTurned, true, product, false);
        assertArrayEquals(expected, fixture.read(product));
        engine.matmul(leftTurned, true, rightTurned, true, product, true);
        assertArrayEquals(new double[]{16, 14, 34, 32}, fixture.read(product));
    }

    @Test
    void shouldApplyALinearLayerAndGelu() {
        Tensor x = fixture.of(new double[]{1, 2}, 1, 2);
        Tensor weight = fixture.of(new double[]{0.5, 1, 0.25, -1}, 2, 2);
        Tensor bias = fixture.of(new double[]{0.5, 1}, 2);
        Tensor y = fixture.random(1, 2);
        Tensor preActivation = fixture.random(1, 2);
        engine.linear(x, weight, false, bias, y);
        assertArrayEquals(new double[]{1.5, 0}, fixture.read(y));
        engine.linearGelu(x, weight, bias, preActivation, y);
        assertArrayEquals(new double[]{1.5, 0}, fixture.read(preActivation));
        assertArrayEquals(new double[]{1.3995715769802328, 0}, fixture.read(y), TOLERANCE);
    }

    @Test
    void shouldNormalizeByTheVarianceOfTheWholeRow() {
        Tensor x = fixture.of(new double[]{1, 3, 1, 3}, 1, 4); // mean 2, variance 1
        Tensor gamma = fixture.of(new double[]{1, 2, 3, 4}, 4);
        Tensor beta = fixture.of(new double[]{0, 0, 1, 1}, 4);
        Tensor y = fixture.random(1, 4);
        Tensor mean = fixture.random(1);
        Tensor reciprocal = fixture.random(1);
        engine.layerNorm(null, x, gamma, beta, 3, y, mean, reciprocal); // 1 / sqrt(1 + 3)
        assertArrayEquals(new double[]{-0.5, 1, -0.5, 3}, fixture.read(y));
        assertArrayEquals(new double[]{2}, fixture.read(mean));
        assertArrayEquals(new double[]{0.5}, fixture.read(reciprocal));
    }

    @Test
    void shouldEmbedTokensAndPlaces() {
        Tensor tokens = fixture.ints(2, 0, 1, 2);
        Tensor tokenTable = fixture.of(new double[]{1, 2, 3, 4, 5, 6}, 3, 2);
        Tensor positionTable = fixture.of(new double[]{10, 20, 30, 40, 50, 60}, 3, 2);
        Tensor y = fixture.random(4, 2);
        engine.embedding(tokens, tokenTable, positionTable, 2, y);
        assertArrayEquals(new double[]{15, 26, 31, 42, 13, 24, 35, 46}, fixture.read(y));
    }

    @Test
    void shouldAttendToThePastOnly() {
        // Two heads of one column. Row: q0 q1 k0 k1 v0 v1. Head 0 weighs the two places 1 : 3, head 1 evenly.
        double log3 = Math.log(3);
        Tensor qkv = fixture.of(new double[]{9, 9, 0, 5, 1, 10, 1, 0, log3, 7, 5, 20}, 2, 6);
        Tensor state = engine.allocate(DataType.FLOAT64, engine.attentionStateShape(1, 2, 2));
        Tensor y = fixture.random(2, 2);
        engine.causalAttention(qkv, 2, 2, state, y);
        assertArrayEquals(new double[]{1, 10, 4, 15}, fixture.read(y), TOLERANCE * 16);
        assertArrayEquals(new double[]{1, 0, 0.25, 0.75, 1, 0, 0.5, 0.5}, fixture.read(state), TOLERANCE);
    }

    @Test
    void shouldScaleScoresByTheRootOfTheHeadSize() {
        // One head of four columns, so scores are halved: 2 log 3 / 2 weighs the places 1 : 3.
        double score = 2 * Math.log(3);
        double[] first = {0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0};
        double[] second = {1, 0, 0, 0, score, 0, 0, 0, 0, 4, 0, 0};
        double[] rows = new double[24];
        System.arraycopy(first, 0, rows, 0, 12);
        System.arraycopy(second, 0, rows, 12, 12);
        Tensor qkv = fixture.of(rows, 2, 12);
        Tensor state = engine.allocate(DataType.FLOAT64, engine.attentionStateShape(1, 2, 1));
        Tensor y = fixture.random(2, 4);
        engine.causalAttention(qkv, 2, 1, state, y);
        assertArrayEquals(new double[]{4, 0, 0, 0, 1, 3, 0, 0}, fixture.read(y), TOLERANCE * 4);
    }

    @Test
    void shouldComputeTheLossAsTheTargetsNegativeLogProbability() {
        // Rows weigh the classes 1 : 1 : 2, far below the overflow of exponentials and far above it.
        double log2 = Math.log(2);
        Tensor logits = fixture.of(new double[]{0, 0, log2, 1024, 1024, 1024 + log2}, 2, 3);
        Tensor targets = fixture.ints(2, 0);
        Tensor rowLoss = fixture.random(2);
        Tensor logSumExp = fixture.random(2);
        engine.crossEntropy(logits, targets, rowLoss, logSumExp);
        assertArrayEquals(new double[]{log2, 2 * log2}, fixture.read(rowLoss), 1024 * TOLERANCE);
        assertArrayEquals(new double[]{2 * log2, 1024 + 2 * log2}, fixture.read(logSumExp), 1024 * TOLERANCE);
        engine.crossEntropyBackward(logits, targets, logSumExp, 4, logits);
        assertArrayEquals(new double[]{1, 1, -2, -3, 1, 2}, fixture.read(logits), 4096 * TOLERANCE);
    }

    @Test
    void shouldUpdateByAdamW() {
        Tensor weights = fixture.of(new double[]{1}, 1);
        Tensor gradients = fixture.of(new double[]{4}, 1);
        Tensor first = fixture.zeros(1);
        Tensor second = fixture.zeros(1);
        // Gradient 2: both corrected moments equal the gradient's, so w = 1 (1 - 0.001) - 0.1 x 2 / (2 + 0.5).
        engine.adamW(weights, gradients, first, second, new AdamW(0.1, 0.9, 0.999, 0.5, 0.01, 1, 0.5));
        assertEquals(0.919, fixture.read(weights)[0], TOLERANCE);
        assertEquals(0.2, fixture.read(first)[0], TOLERANCE);
        assertEquals(0.004, fixture.read(second)[0], TOLERANCE);

        // Gradient -1: m = 0.18 - 0.1, v = 0.003996 + 0.001, corrected by 0.19 and 0.001999.
        fixture.write(gradients, -2);
        engine.adamW(weights, gradients, first, second, new AdamW(0.1, 0.9, 0.999, 0.5, 0.01, 2, 0.5));
        assertEquals(0.8978468549929338, fixture.read(weights)[0], TOLERANCE);
        assertEquals(0.08, fixture.read(first)[0], TOLERANCE);
        assertEquals(0.004996, fixture.read(second)[0], TOLERANCE);
    }

    @Test
    void shouldUpdateBySgd() {
        Tensor weights = fixture.of(new double[]{1, -2}, 2);
        Tensor gradients = fixture.of(new double[]{4, 0}, 2);
        engine.sgd(weights, gradients, 0.5, 0.25, 0.125);
        assertArrayEquals(new double[]{1 - 0.5 * (0.5 + 0.25), -2 + 0.5 * 0.5}, fixture.read(weights));
    }

    @Test
    void shouldUpdateBySgdWithMomentum() {
        Tensor weights = fixture.of(new double[]{1, 1}, 2);
        Tensor velocity = fixture.zeros(2);
        Momentum update = new Momentum(0.5, 0.5, true, 0.25, 0.5);
        // Gradients 2 and 0, with the decay 2.25 and 0.25; half of the velocity is added to them.
        engine.sgdMomentum(weights, fixture.of(new double[]{4, 0}, 2), velocity, update);
        assertArrayEquals(new double[]{2.25, 0.25}, fixture.read(velocity));
        assertArrayEquals(new double[]{1 - 0.5 * 3.375, 1 - 0.5 * 0.375}, fixture.read(weights));

        fixture.write(weights, 1, 1);
        engine.sgdMomentum(weights, fixture.of(new double[]{0, 2}, 2), velocity, new Momentum(1, 0.5, false, 0, 1));
        assertArrayEquals(new double[]{1.125, 2.125}, fixture.read(velocity));
        assertArrayEquals(new double[]{-0.125, -1.125}, fixture.read(weights));
    }

    @Test
    void shouldSumElementsAndSquares() {
        Tensor tensor = fixture.of(new double[]{1, -2, 3}, 3);
        Tensor sums = fixture.zeros(2);
        engine.sum(tensor, sums, 0);
        engine.squaredSum(tensor, sums, 1);
        assertArrayEquals(new double[]{2, 14}, fixture.read(sums));
    }
}
