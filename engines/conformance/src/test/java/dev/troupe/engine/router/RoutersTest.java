package dev.troupe.engine.router;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Router kinds against their definitions, and their gradients against finite differences. */
@Tag("plan")
class RoutersTest {
    private static final List<Router> KINDS = List.of(new SoftmaxRouter(false), new SoftmaxRouter(true),
            new SigmoidRouter(false, 1, 1, 1), new SigmoidRouter(true, 1, 1, 2.5), new SigmoidRouter(true, 4, 2, 2));

    private record Routed(double[] scores, int[] chosen, double[] weights) {
        static Routed of(Router router, double[] logits, double[] bias, int k) {
            Routed routed = new Routed(new double[logits.length], new int[k], new double[k]);
            router.forward(logits, bias, routed.scores, routed.chosen, routed.weights);
            return routed;
        }
    }

    @Test
    void shouldDivideTheSoftmaxOfTheHighest() {
        double[] logits = {Math.log(1), Math.log(4), Math.log(3), Math.log(2)};
        Routed plain = Routed.of(new SoftmaxRouter(false), logits, null, 2);
        assertArrayEquals(new double[]{0.1, 0.4, 0.3, 0.2}, plain.scores, 1e-15);
        assertArrayEquals(new int[]{1, 2}, plain.chosen);
        assertArrayEquals(new double[]{0.4, 0.3}, plain.weights, 1e-15);
        // The same as the softmax over the chosen logits.
        assertArrayEquals(new double[]{4 / 7.0, 3 / 7.0}, Routed.of(new SoftmaxRouter(true), logits, null, 2).weights,
                1e-15);
    }

    @Test
    void shouldChooseTheLowerIndexOfEqualScores() {
        for (Router router : KINDS) {
            assertArrayEquals(new int[]{0, 1}, Routed.of(router, new double[8], null, 2).chosen, "" + router);
        }
    }

    /** The regression of transformers#41647: a weight with the bias. */
    @Test
    void shouldChooseByTheBiasAndWeighWithoutIt() {
        double[] logits = {3, 2, 1, 0};
        double[] bias = {0, 0, 0, 10};
        Routed routed = Routed.of(new SigmoidRouter(false, 1, 1, 1), logits, bias, 2);
        assertArrayEquals(new int[]{3, 0}, routed.chosen);
        assertArrayEquals(new double[]{0.5, 1 / (1 + Math.exp(-3))}, routed.weights, 1e-15);
        assertEquals(0.5, routed.scores[3]);
    }

    /** DeepSeek-V3#741: if experts of other groups count 0, one of them wins over a negative number. */
    @Test
    void shouldNeverChooseAnExpertOfAnotherGroup() {
        double[] bias = {-5, -5, -5, -6, -6, -6};
        Routed routed = Routed.of(new SigmoidRouter(true, 2, 1, 1), new double[6], bias, 3);
        assertArrayEquals(new int[]{0, 1, 2}, routed.chosen);
    }

    @Test
    void shouldKeepTheGroupsOfTheTwoHighestSums() {
        // The highest of all is in the first group, and the highest pair in the second.
        double[] logits = {9, -9, -9, 2, 2, -9, 1, 1, 1};
        assertArrayEquals(new int[]{3, 4}, Routed.of(new SigmoidRouter(true, 3, 1, 1), logits, null, 2).chosen);
        assertArrayEquals(new int[]{3, 4, 6}, Routed.of(new SigmoidRouter(true, 3, 2, 1), logits, null, 3).chosen);
        // A group of one expert has no second.
        assertArrayEquals(new int[]{0, 3}, Routed.of(new SigmoidRouter(true, 9, 2, 1), logits, null, 2).chosen);
    }

    /** flashinfer#3803: 0 / 0 if all scores are 0. */
    @Test
    void shouldWeighNothingIfAllScoresAreZero() {
        double[] logits = new double[4];
        Arrays.fill(logits, -1e4);
        Router router = new SigmoidRouter(true, 1, 1, 2.5);
        Routed routed = Routed.of(router, logits, null, 2);
        assertArrayEquals(new double[]{0, 0}, routed.weights);
        double[] gradient = new double[4];
        router.backward(routed.scores, routed.chosen, new double[]{1, -1}, null, gradient);
        assertEquals(0, Arrays.stream(gradient).map(Math::abs).sum());
    }

    @Test
    void shouldChooseDifferentExpertsOfNumbersThatAreNotComparable() {
        double[] logits = {Double.NaN, 1, Double.NaN, 2};
        for (Router router : KINDS.subList(0, 4)) {
            Routed routed = Routed.of(router, logits, null, 4);
            assertEquals(4, Arrays.stream(routed.chosen).distinct().count(), router + Arrays.toString(routed.chosen));
        }
        assertArrayEquals(new int[]{3, 1}, Routed.of(new SigmoidRouter(false, 1, 1, 1), logits, null, 2).chosen);
    }

    @Test
    void shouldHaveTheGradientOfFiniteDifferences() {
        Random random = new Random(5);
        double step = 1e-6;
        for (Router router : KINDS) {
            double[] logits = random.doubles(8, -2, 2).toArray();
            double[] bias = random.doubles(8).toArray();
            double[] dWeights = random.doubles(3).toArray();
            double[] dScores = random.doubles(8).toArray();
            Routed routed = Routed.of(router, logits, bias, 3);
            double[] gradient = new double[8];
            router.backward(routed.scores, routed.chosen, dWeights, dScores, gradient);
            for (int index = 0; index < 8; index++) {
                double[] difference = new double[2];
                for (int side = 0; side < 2; side++) {
                    double[] moved = logits.clone();
                    moved[index] += side == 0 ? step : -step;
                    Routed other = Routed.of(router, moved, bias, 3);
                    assertArrayEquals(routed.chosen, other.chosen);
                    difference[side] = product(other.weights, dWeights) + product(other.scores, dScores);
                }
                assertEquals((difference[0] - difference[1]) / (2 * step), gradient[index], 1e-8,
                        router + " " + index);
            }
        }
    }

    private static double product(double[] left, double[] right) {
        return IntStream.range(0, left.length).mapToDouble(i -> left[i] * right[i]).sum();
    }

    @Test
    void shouldRefuseGroupsThatCannotHoldTheChoices() {
        assertEquals(Optional.empty(), new SigmoidRouter(true, 2, 1, 1).refusal(6, 3));
        assertTrue(new SigmoidRouter(true, 2, 1, 1).refusal(6, 4).orElseThrow().contains("4 experts"));
        assertTrue(new SigmoidRouter(true, 2, 3, 1).refusal(6, 1).orElseThrow().contains("3 groups"));
        assertTrue(new SigmoidRouter(true, 4, 1, 1).refusal(6, 1).orElseThrow().contains("not divisible by 4"));
        assertTrue(new SigmoidRouter(true, 1, 1, Double.NaN).refusal(6, 1).orElseThrow().contains("above 0"));
    }
}
