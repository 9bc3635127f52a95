package dev.troupe.engine.nd4j;

import dev.troupe.engine.nd4j.Scratch.Slot;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * Activations of MLPs: GELU and SwiGLU.
 *
 * <p>GELU is in its tanh form, written as {@code x s} with {@code s = 1 / (1 + exp(-2 u))} and {@code u = sqrt(2 / pi) (x +
 * a x^3)}, since {@code (1 + tanh u) / 2 = s} and ND4J's exp costs a quarter of its tanh. ND4J's PreciseGELU is wrong: it
 * cubes {@code a x} instead of x, an error of one percent at 1.
 */
final class Activations {
    private static final double CUBIC = 0.044715;
    private static final double TWICE_ROOT = 2 * Math.sqrt(2 / Math.PI);

    private final Operations operations;
    private final Scratch scratch;

    Activations(Operations operations, Scratch scratch) {
        this.operations = operations;
        this.scratch = scratch;
    }

    void gelu(INDArray x, INDArray y) {
        INDArray divisor = scratch.slot(Slot.FIRST, x.length()).vector(x.length());
        onePlusExp(x, divisor);
        operations.divide(x, divisor, y);
    }

    /** {@code dx = dy (s + x s (1 - s) 2 u')}, with {@code 2 u' = 2 sqrt(2 / pi) (1 + 3 a x^2)}. */
    void geluBackward(INDArray x, INDArray dy, INDArray dx) {
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

    /** {@code y = silu(gate) up} with {@code silu(x) = x s}, {@code s = 1 / (1 + exp(-x))} (Shazeer 2020). */
    void swiGlu(INDArray gate, INDArray up, INDArray y) {
        INDArray divisor = scratch.slot(Slot.FIRST, gate.length()).vector(gate.length());
        onePlusExpOfNegative(gate, divisor);
        operations.divide(gate, divisor, y);
        operations.multiply(y, up, y);
    }

    /** {@code dGate = dy up (s + x s (1 - s))} and {@code dUp = dy x s}. */
    void swiGluBackward(INDArray gate, INDArray up, INDArray dy, INDArray dGate, INDArray dUp) {
        long length = gate.length();
        INDArray s = scratch.slot(Slot.FIRST, length).vector(length);
        INDArray slope = scratch.slot(Slot.SECOND, length).vector(length);
        INDArray silu = scratch.slot(Slot.THIRD, length).vector(length);
        onePlusExpOfNegative(gate, s);
        operations.reciprocal(s, s);
        operations.multiply(gate, s, silu);
        operations.timesOneMinus(s, slope);
        operations.multiply(slope, gate, slope);
        operations.add(slope, s, slope);
        operations.multiply(slope, up, slope);
        operations.multiply(slope, dy, dGate);
        operations.multiply(silu, dy, dUp);
    }

    /** {@code y = 1 + exp(-x)}. */
    private void onePlusExpOfNegative(INDArray x, INDArray y) {
        operations.copy(x, y);
        operations.scale(-1, y);
        operations.exp(y, y);
        operations.add(y, scratch.scalar(1), y);
    }
}
