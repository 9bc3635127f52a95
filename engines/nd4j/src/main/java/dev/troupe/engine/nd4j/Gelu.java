package dev.troupe.engine.nd4j;

import dev.troupe.engine.nd4j.Scratch.Slot;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * GELU in its tanh form, written as {@code x s} with {@code s = 1 / (1 + exp(-2 u))} and {@code u = sqrt(2 / pi) (x + a
 * x^3)}, since {@code (1 + tanh u) / 2} is just that and ND4J's exp costs a quarter of its tanh.
 *
 * <p>ND4J's own PreciseGELU is no help: it cubes {@code a x} instead of x, which is off by one percent at 1.
 */
final class Gelu {
    private static final double CUBIC = 0.044715;
    private static final double TWICE_ROOT = 2 * Math.sqrt(2 / Math.PI);

    private final Operations operations;
    private final Scratch scratch;

    Gelu(Operations operations, Scratch scratch) {
        this.operations = operations;
        this.scratch = scratch;
    }

    /** All of one length; y may be x. */
    void forward(INDArray x, INDArray y) {
        INDArray divisor = scratch.slot(Slot.FIRST, x.length()).vector(x.length());
        onePlusExp(x, divisor);
        operations.divide(x, divisor, y);
    }

    /** {@code dx = dy (s + x s (1 - s) 2 u')}, with {@code 2 u' = 2 sqrt(2 / pi) (1 + 3 a x^2)}. */
    void backward(INDArray x, INDArray dy, INDArray dx) {
        INDArray s = scratch.slot(Slot.FIRST, x.length()).vector(x.length());
        INDArray slope = scratch.slot(Slot.SECOND, x.length()).vector(x.length());
        onePlusExp(x, s);
        operations.reciprocal(s, s);
        operations.square(x, slope);
        operations.scale(3 * CUBIC * TWICE_ROOT, slope);
        operations.add(slope, scratch.scalar(TWICE_ROOT), slope);
        operations.multiply(slope, x, slope);
        INDArray spread = scratch.slot(Slot.THIRD, x.length()).vector(x.length());
        operations.timesOneMinus(s, spread);
        operations.multiply(slope, spread, slope);
        operations.add(slope, s, slope);
        operations.multiply(slope, dy, dx);
    }

    /** {@code y = 1 + exp(-2 u)}. */
    private void onePlusExp(INDArray x, INDArray y) {
        operations.cube(x, y);
        operations.addScaled(1 / CUBIC, x, y);
        operations.scale(-TWICE_ROOT * CUBIC, y);
        operations.exp(y, y);
        operations.add(y, scratch.scalar(1), y);
    }
}
