package dev.troupe.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class InitialWeightsTest {
    private static final ModelSpec MODEL = new Gpt2(8, 64, 4, 32, 257, true, 1e-5).spec();

    @Test
    void shouldHaveTheSpreadOfGpt2() {
        InitialWeights weights = new InitialWeights(MODEL, 1);
        assertNormal(0.02, doubles(weights, "wte.weight", Shape.of(257, 64)));
        assertNormal(0.02, doubles(weights, "wpe.weight", Shape.of(32, 64)));
        assertNormal(0.02, doubles(weights, "h.7.attn.c_attn.weight", Shape.of(64, 192)));
        assertNormal(0.02, doubles(weights, "h.0.mlp.c_fc.weight", Shape.of(64, 256)));
        // 0.02 / sqrt(2 x 8 layers)
        assertNormal(0.005, doubles(weights, "h.3.attn.c_proj.weight", Shape.of(64, 64)));
        assertNormal(0.005, doubles(weights, "h.3.mlp.c_proj.weight", Shape.of(256, 64)));
        assertTrue(Arrays.stream(doubles(weights, "h.1.ln_2.weight", Shape.of(64))).allMatch(value -> value == 1));
        assertTrue(Arrays.stream(doubles(weights, "ln_f.bias", Shape.of(64))).allMatch(value -> value == 0));
        assertTrue(Arrays.stream(doubles(weights, "h.0.mlp.c_fc.bias", Shape.of(256))).allMatch(value -> value == 0));
    }

    @Test
    void shouldOverwriteTheTarget() {
        double[] dirty = new double[64];
        Arrays.fill(dirty, Double.NaN);
        new InitialWeights(MODEL, 1).read("ln_f.bias", Shape.of(64), DataType.FLOAT64, MemorySegment.ofArray(dirty));
        assertArrayEquals(new double[64], dirty);
    }

    @Test
    void shouldDependOnSeedNameAndIndexAlone() {
        Shape shape = Shape.of(64, 192);
        double[] one = doubles(new InitialWeights(MODEL, 1), "h.2.attn.c_attn.weight", shape);
        InitialWeights used = new InitialWeights(MODEL, 1);
        doubles(used, "wte.weight", Shape.of(257, 64));
        assertArrayEquals(one, doubles(used, "h.2.attn.c_attn.weight", shape));
        assertFalse(Arrays.equals(one, doubles(used, "h.3.attn.c_attn.weight", shape)));
        assertFalse(Arrays.equals(one, doubles(new InitialWeights(MODEL, 2), "h.2.attn.c_attn.weight", shape)));
        // A longer table begins with the same rows: later rows have no effect on earlier ones.
        ModelSpec longer = new Gpt2(8, 64, 4, 32, 514, true, 1e-5).spec();
        assertArrayEquals(doubles(used, "wte.weight", Shape.of(257, 64)), Arrays
                .copyOf(doubles(new InitialWeights(longer, 1), "wte.weight", Shape.of(514, 64)), 257 * 64));
    }

    @Test
    void shouldRoundTheSameValuesToFloat32() {
        Shape shape = Shape.of(257, 64);
        InitialWeights weights = new InitialWeights(MODEL, 3);
        float[] narrow = new float[257 * 64];
        weights.read("wte.weight", shape, DataType.FLOAT32, MemorySegment.ofArray(narrow));
        double[] wide = doubles(weights, "wte.weight", shape);
        for (int i = 0; i < narrow.length; i++) {
            assertEquals((float) wide[i], narrow[i]);
        }
    }

    @Test
    void shouldRefuseParametersThatTheModelLacks() {
        InitialWeights weights = new InitialWeights(MODEL, 1);
        assertEquals(
                "initial weights: tensor \"lm_head.weight\" of shape [257 x 64] was asked for, but the model has no"
                        + " such tensor",
                assertThrows(WeightException.class,
                        () -> doubles(weights, "lm_head.weight", Shape.of(257, 64))).getMessage());
        assertEquals("initial weights: tensor \"wte.weight\" of shape [64 x 257] was asked for, but the model has it as"
                + " [257 x 64]",
                assertThrows(WeightException.class,
                        () -> doubles(weights, "wte.weight", Shape.of(64, 257))).getMessage());
    }

    private static void assertNormal(double deviation, double[] values) {
        double mean = Arrays.stream(values).average().orElseThrow();
        double square = Arrays.stream(values).map(value -> value * value).average().orElseThrow();
        double within = Arrays.stream(values).filter(value -> Math.abs(value) < deviation).count()
                / (double) values.length;
        // Six standard errors of each; the share within one deviation of a normal distribution is 0.6827.
        double error = 6 / Math.sqrt(values.length);
        assertEquals(0, mean, deviation * error);
        assertEquals(deviation, Math.sqrt(square), deviation * error);
        assertEquals(0.6827, within, error / 2);
        assertEquals(values.length, Arrays.stream(values).distinct().count());
    }

    private static double[] doubles(WeightSource source, String name, Shape shape) {
        MemorySegment target = MemorySegment.ofArray(new double[(int) shape.elementCount()]);
        source.read(name, shape, DataType.FLOAT64, target);
        return target.toArray(ValueLayout.JAVA_DOUBLE);
    }
}
