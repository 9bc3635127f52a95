package dev.troupe.layer.rotary;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;

/**
 * The rotation angles of queries and keys (Su et al. 2021): at place p, pair i of d/2 turns by {@code p f[i]}.
 *
 * @param cosines [T x d/2], d the numbers of a head that turn
 * @param sines [T x d/2]
 */
record RotaryAngles(Tensor cosines, Tensor sines) {
    /** Returns the angles of a stage's run, the same tensors for all of its layers. */
    static RotaryAngles of(LayerContext context, Frequencies frequencies) {
        double[] f = frequencies.perPlace();
        Shape shape = Shape.of(context.sequenceLength(), f.length);
        return new RotaryAngles(context.constant("rotary cosines", shape, () -> values(shape, f, true)),
                context.constant("rotary sines", shape, () -> values(shape, f, false)));
    }

    RotaryAngles from(Engine engine, int place) {
        if (place == 0) {
            return this;
        }
        int half = sines.shape().size(1);
        Shape rest = Shape.of(sines.shape().size(0) - place, half);
        return new RotaryAngles(engine.range(cosines, (long) place * half, rest),
                engine.range(sines, (long) place * half, rest));
    }

    private static double[] values(Shape shape, double[] f, boolean cosine) {
        double[] values = new double[(int) shape.elementCount()];
        for (int i = 0; i < values.length; i++) {
            double angle = i / f.length * f[i % f.length];
            values[i] = cosine ? StrictMath.cos(angle) : StrictMath.sin(angle);
        }
        return values;
    }
}
