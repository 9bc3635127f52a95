package dev.troupe.engine.cuda.ptx;

import static dev.troupe.engine.cuda.ptx.Warp.LANES;

import dev.troupe.engine.Bfloat16;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;

/**
 * Instructions on floats and doubles. Approximate instructions have the largest error that PTX allows, in a
 * direction that is drawn from the operand.
 */
final class RealOps {
    /** The documented errors of {@code ex2.approx.f32} and {@code lg2.approx.f32}. */
    private static final double ALLOWED = 0x1p-22;

    private RealOps() {
    }

    /** The instruction, or null if it is of another kind. */
    static Op of(Statement s, Registers registers) {
        return switch (s.name()) {
            case "add.f32", "add.rn.f32" -> added(s, registers);
            case "sub.f32", "sub.rn.f32" -> subtracted(s, registers);
            case "mul.f32", "mul.rn.f32" -> multiplied(s, registers);
            case "fma.rn.f32" -> fused(s, registers);
            // A quotient of floats in doubles rounds to the same float, and so does a root.
            case "div.rn.f32" -> each(s, registers, (a, b) -> a / b);
            case "max.f32" -> each(s, registers, (a, b) -> Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.max(a, b));
            case "min.f32" -> each(s, registers, (a, b) -> Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.min(a, b));
            case "rcp.rn.f32" -> of(s, registers, a -> 1 / a);
            case "sqrt.rn.f32" -> of(s, registers, Math::sqrt);
            case "neg.f32" -> of(s, registers, a -> -a);
            case "abs.f32" -> of(s, registers, Math::abs);
            case "ex2.approx.f32" -> of(s, registers, RealOps::power);
            case "ex2.approx.ftz.f32" -> of(s, registers, x -> normal(power(normal(x))));
            case "lg2.approx.f32" -> of(s, registers, RealOps::logarithm);
            case "selp.f32" -> chosen(s, registers);
            case "cvt.rn.f32.s32" -> ofInteger(s, registers);
            case "cvt.rn.bf16.f32" -> narrowed(s, registers);
            case "cvt.rn.bf16x2.f32" -> packed(s, registers);
            case "cvt.f64.f32" -> precise(s, registers);
            case "add.f64", "add.rn.f64" -> eachPrecise(s, registers, Double::sum);
            case "mul.f64", "mul.rn.f64" -> eachPrecise(s, registers, (a, b) -> a * b);
            case "selp.f64" -> chosenPrecise(s, registers);
            case "fma.rn.f64" -> fusedPrecise(s, registers);
            default -> null;
        };
    }

    private static double power(double x) {
        return Math.pow(2, x) * (1 + ALLOWED * direction(x));
    }

    /** Zero in place of numbers below the smallest normal float. */
    private static double normal(double x) {
        return Math.abs(x) < Float.MIN_NORMAL ? 0 : x;
    }

    private static double logarithm(double x) {
        double exact = Math.log(x) / Math.log(2);
        return x > 0.5 && x < 2 ? exact + ALLOWED * direction(x) : exact * (1 + ALLOWED * direction(x));
    }

    /** A number from -1 to 1, most often one of these two. */
    private static double direction(double x) {
        long mixed = Double.doubleToLongBits(x) * 0x9E3779B97F4A7C15L;
        return Math.clamp((mixed >> 40) / 0x1p22, -1.0, 1.0);
    }

    private static Op added(Statement s, Registers registers) {
        int to = registers.real(s.operands().get(0));
        int left = registers.real(s.operands().get(1));
        int right = registers.real(s.operands().get(2));
        return (warp, lanes) -> {
            float[] sum = warp.floatsFor(to, lanes);
            float[] a = warp.floats[left];
            float[] b = warp.floats[right];
            for (int lane = 0; lane < LANES; lane++) {
                sum[lane] = a[lane] + b[lane];
            }
            warp.settleFloats(to, lanes);
        };
    }

    private static Op subtracted(Statement s, Registers registers) {
        int to = registers.real(s.operands().get(0));
        int left = registers.real(s.operands().get(1));
        int right = registers.real(s.operands().get(2));
        return (warp, lanes) -> {
            float[] difference = warp.floatsFor(to, lanes);
            float[] a = warp.floats[left];
            float[] b = warp.floats[right];
            for (int lane = 0; lane < LANES; lane++) {
                difference[lane] = a[lane] - b[lane];
            }
            warp.settleFloats(to, lanes);
        };
    }

    private static Op multiplied(Statement s, Registers registers) {
        int to = registers.real(s.operands().get(0));
        int left = registers.real(s.operands().get(1));
        int right = registers.real(s.operands().get(2));
        return (warp, lanes) -> {
            float[] product = warp.floatsFor(to, lanes);
            float[] a = warp.floats[left];
            float[] b = warp.floats[right];
            for (int lane = 0; lane < LANES; lane++) {
                product[lane] = a[lane] * b[lane];
            }
            warp.settleFloats(to, lanes);
        };
    }

    private static Op fused(Statement s, Registers registers) {
        int to = registers.real(s.operands().get(0));
        int left = registers.real(s.operands().get(1));
        int right = registers.real(s.operands().get(2));
        int more = registers.real(s.operands().get(3));
        return (warp, lanes) -> {
            float[] sum = warp.floatsFor(to, lanes);
            float[] a = warp.floats[left];
            float[] b = warp.floats[right];
            float[] c = warp.floats[more];
            for (int lane = 0; lane < LANES; lane++) {
                sum[lane] = Math.fma(a[lane], b[lane], c[lane]);
            }
            warp.settleFloats(to, lanes);
        };
    }

    private static Op each(Statement s, Registers registers, DoubleBinaryOperator operator) {
        int to = registers.real(s.operands().get(0));
        int left = registers.real(s.operands().get(1));
        int right = registers.real(s.operands().get(2));
        return (warp, lanes) -> {
            float[] result = warp.floatsFor(to, lanes);
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = (float) operator.applyAsDouble(warp.floats[left][lane], warp.floats[right][lane]);
            }
            warp.settleFloats(to, lanes);
        };
    }

    private static Op of(Statement s, Registers registers, DoubleUnaryOperator operator) {
        int to = registers.real(s.operands().get(0));
        int from = registers.real(s.operands().get(1));
        return (warp, lanes) -> {
            float[] result = warp.floatsFor(to, lanes);
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = (float) operator.applyAsDouble(warp.floats[from][lane]);
            }
            warp.settleFloats(to, lanes);
        };
    }

    private static Op chosen(Statement s, Registers registers) {
        int to = registers.real(s.operands().get(0));
        int yes = registers.real(s.operands().get(1));
        int no = registers.real(s.operands().get(2));
        int condition = registers.predicate(s.operands().get(3));
        return (warp, lanes) -> {
            float[] result = warp.floatsFor(to, lanes);
            float[] a = warp.floats[yes];
            float[] b = warp.floats[no];
            int bits = warp.predicates[condition];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = (bits >>> lane & 1) != 0 ? a[lane] : b[lane];
            }
            warp.settleFloats(to, lanes);
        };
    }

    private static Op ofInteger(Statement s, Registers registers) {
        int to = registers.real(s.operands().get(0));
        int from = registers.integer(s.operands().get(1));
        return (warp, lanes) -> {
            float[] result = warp.floatsFor(to, lanes);
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = warp.ints[from][lane];
            }
            warp.settleFloats(to, lanes);
        };
    }

    private static Op narrowed(Statement s, Registers registers) {
        int to = registers.integer(s.operands().get(0));
        int from = registers.real(s.operands().get(1));
        return (warp, lanes) -> {
            int[] result = warp.intsFor(to, lanes);
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = Bfloat16.of(warp.floats[from][lane]) & 0xFFFF;
            }
            warp.settleInts(to, lanes);
        };
    }

    /** The first number in the upper half, the second in the lower. */
    private static Op packed(Statement s, Registers registers) {
        int to = registers.integer(s.operands().get(0));
        int high = registers.real(s.operands().get(1));
        int low = registers.real(s.operands().get(2));
        return (warp, lanes) -> {
            int[] result = warp.intsFor(to, lanes);
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = Bfloat16.of(warp.floats[high][lane]) << 16
                        | Bfloat16.of(warp.floats[low][lane]) & 0xFFFF;
            }
            warp.settleInts(to, lanes);
        };
    }

    private static Op precise(Statement s, Registers registers) {
        int to = registers.precise(s.operands().get(0));
        int from = registers.real(s.operands().get(1));
        return (warp, lanes) -> {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    warp.doubles[to][lane] = warp.floats[from][lane];
                }
            }
        };
    }

    private static Op eachPrecise(Statement s, Registers registers, DoubleBinaryOperator operator) {
        int to = registers.precise(s.operands().get(0));
        int left = registers.precise(s.operands().get(1));
        int right = registers.precise(s.operands().get(2));
        return (warp, lanes) -> {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    warp.doubles[to][lane] = operator.applyAsDouble(warp.doubles[left][lane],
                            warp.doubles[right][lane]);
                }
            }
        };
    }

    private static Op fusedPrecise(Statement s, Registers registers) {
        int to = registers.precise(s.operands().get(0));
        int left = registers.precise(s.operands().get(1));
        int right = registers.precise(s.operands().get(2));
        int more = registers.precise(s.operands().get(3));
        return (warp, lanes) -> {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    warp.doubles[to][lane] = Math.fma(warp.doubles[left][lane], warp.doubles[right][lane],
                            warp.doubles[more][lane]);
                }
            }
        };
    }

    private static Op chosenPrecise(Statement s, Registers registers) {
        int to = registers.precise(s.operands().get(0));
        int yes = registers.precise(s.operands().get(1));
        int no = registers.precise(s.operands().get(2));
        int condition = registers.predicate(s.operands().get(3));
        return (warp, lanes) -> {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    boolean isYes = (warp.predicates[condition] >>> lane & 1) != 0;
                    warp.doubles[to][lane] = warp.doubles[isYes ? yes : no][lane];
                }
            }
        };
    }
}
