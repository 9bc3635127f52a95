package dev.troupe.sum;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exact sums of squares against sums of decimals of any length. */
class ExactSumTest {
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldRoundTheExactSumOnceInAnyOrderAndAnyParts(long seed) {
        Random random = new Random(seed);
        double[] numbers = IntStream.range(0, 1 + random.nextInt(3000))
                .mapToDouble(_ -> (float) (random.nextGaussian() * Math.pow(2, random.nextInt(240) - 140))).toArray();
        double expected = Arrays.stream(numbers).mapToObj(BigDecimal::new).map(number -> number.multiply(number))
                .reduce(BigDecimal.ZERO, BigDecimal::add).doubleValue();
        List<Double> others = Arrays.asList(Arrays.stream(numbers).boxed().toArray(Double[]::new));
        for (int parts = 1; parts <= 4; parts++) {
            assertEquals(expected, sum(others.stream().mapToDouble(Double::doubleValue).toArray(), parts),
                    "seed " + seed + ", " + parts + " parts");
            Collections.shuffle(others, random);
        }
    }

    @Test
    void shouldSumTheSmallestAndTheLargestSquares() {
        assertEquals(0, sum(new double[]{0, -0.0}, 1));
        assertEquals(Double.MIN_VALUE * 3, sum(new double[]{0x1p-537, -0x1p-537, 0x1p-537}, 2));
        assertEquals(3 * 0x1p1022, sum(new double[]{0x1p511, -0x1p511, 0x1p511}, 3));
        assertEquals(1, sum(new double[]{1, 0x1p-27}, 1), "half of the last bit, to even");
        assertEquals(Math.nextUp(1.0), sum(new double[]{1, 0x1p-26 * 0.75}, 1), "more than half of the last bit");
        assertEquals(Math.nextUp(1.0), sum(new double[]{1, 0x1p-26, 0x1p-500}, 2));
    }

    @Test
    void shouldNotBeFiniteWithASquareThatIsNot() {
        assertEquals(Double.POSITIVE_INFINITY, sum(new double[]{1, Double.POSITIVE_INFINITY}, 2));
        assertEquals(Double.POSITIVE_INFINITY, sum(new double[]{1e200, 1}, 2));
        assertEquals(Double.NaN, sum(new double[]{1, Double.NaN, Double.NEGATIVE_INFINITY}, 2));
    }

    /** Sums parts on ranks of their own, which add their digits. */
    private static double sum(double[] numbers, int parts) {
        double[] digits = new double[ExactSum.DIGITS + 1];
        for (int part = 0; part < parts; part++) {
            double[] own = Arrays.copyOfRange(numbers, numbers.length * part / parts,
                    numbers.length * (part + 1) / parts);
            ExactSum sum = new ExactSum();
            sum.addSquares(own, own.length);
            double[] its = new double[digits.length];
            sum.write(its, 1);
            Arrays.setAll(digits, i -> digits[i] + its[i]);
        }
        return ExactSum.value(digits, 1);
    }
}
