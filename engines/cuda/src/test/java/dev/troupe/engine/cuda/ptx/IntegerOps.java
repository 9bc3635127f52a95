package dev.troupe.engine.cuda.ptx;

import static dev.troupe.engine.cuda.ptx.Warp.LANES;

import java.util.function.IntBinaryOperator;

/** Instructions on integers of 16 and 32 bits; 16 bits have zeros above. */
final class IntegerOps {
    private static final int HALF = 0xFFFF;

    private IntegerOps() {
    }

    /** The instruction, or null if it is of another kind. */
    static Op of(Statement s, Registers registers) {
        return switch (s.name()) {
            case "add.s32" -> added(s, registers);
            case "mul.lo.s32" -> multiplied(s, registers);
            case "mad.lo.s32" -> multipliedAndAdded(s, registers);
            case "sub.s32" -> each(s, registers, (a, b) -> a - b);
            case "and.b32" -> each(s, registers, (a, b) -> a & b);
            case "or.b32" -> each(s, registers, (a, b) -> a | b);
            case "xor.b32" -> each(s, registers, (a, b) -> a ^ b);
            case "shl.b32" -> each(s, registers, (a, b) -> Integer.compareUnsigned(b, 31) > 0 ? 0 : a << b);
            case "shr.u32" -> each(s, registers, (a, b) -> Integer.compareUnsigned(b, 31) > 0 ? 0 : a >>> b);
            case "shr.s32" -> each(s, registers, (a, b) -> Integer.compareUnsigned(b, 31) > 0 ? a >> 31 : a >> b);
            case "min.s32" -> each(s, registers, Math::min);
            case "max.s32" -> each(s, registers, Math::max);
            case "div.s32" -> each(s, registers, (a, b) -> b == 0 ? -1 : a / b);
            case "rem.s32" -> each(s, registers, (a, b) -> b == 0 ? a : a % b);
            case "div.u32" -> each(s, registers, (a, b) -> b == 0 ? -1 : Integer.divideUnsigned(a, b));
            case "rem.u32" -> each(s, registers, (a, b) -> b == 0 ? a : Integer.remainderUnsigned(a, b));
            case "add.s16" -> each(s, registers, (a, b) -> a + b & HALF);
            case "sub.s16" -> each(s, registers, (a, b) -> a - b & HALF);
            case "and.b16" -> each(s, registers, (a, b) -> a & b);
            case "or.b16" -> each(s, registers, (a, b) -> a | b);
            case "xor.b16" -> each(s, registers, (a, b) -> a ^ b);
            case "shr.u16" -> each(s, registers, (a, b) -> a >>> Math.min(b, 16));
            case "shr.s16" -> each(s, registers, (a, b) -> (short) a >> Math.min(b, 15) & HALF);
            case "shl.b16" -> each(s, registers, (a, b) -> b > 15 ? 0 : a << b & HALF);
            case "neg.s32" -> of(s, registers, a -> -a);
            case "not.b32" -> of(s, registers, a -> ~a);
            case "mov.b16", "mov.u16", "cvt.u32.u16" -> of(s, registers, a -> a);
            case "cvt.u16.u32" -> of(s, registers, a -> a & HALF);
            case "cvt.s32.s16" -> of(s, registers, a -> (short) a);
            case "cvt.s32.s8" -> of(s, registers, a -> (byte) a);
            case "cvt.s16.s8", "cvt.s8.s32" -> of(s, registers, a -> (byte) a & HALF);
            case "mul.wide.s16" -> each(s, registers, (a, b) -> (short) a * (short) b);
            case "selp.b32", "selp.u32", "selp.s32", "selp.b16", "selp.u16" -> chosen(s, registers);
            default -> null;
        };
    }

    private static Op added(Statement s, Registers registers) {
        int to = registers.integer(s.operands().get(0));
        int left = registers.integer(s.operands().get(1));
        int right = registers.integer(s.operands().get(2));
        return (warp, lanes) -> {
            int[] sum = warp.intsFor(to, lanes);
            int[] a = warp.ints[left];
            int[] b = warp.ints[right];
            for (int lane = 0; lane < LANES; lane++) {
                sum[lane] = a[lane] + b[lane];
            }
            warp.settleInts(to, lanes);
        };
    }

    private static Op multiplied(Statement s, Registers registers) {
        int to = registers.integer(s.operands().get(0));
        int left = registers.integer(s.operands().get(1));
        int right = registers.integer(s.operands().get(2));
        return (warp, lanes) -> {
            int[] product = warp.intsFor(to, lanes);
            int[] a = warp.ints[left];
            int[] b = warp.ints[right];
            for (int lane = 0; lane < LANES; lane++) {
                product[lane] = a[lane] * b[lane];
            }
            warp.settleInts(to, lanes);
        };
    }

    private static Op multipliedAndAdded(Statement s, Registers registers) {
        int to = registers.integer(s.operands().get(0));
        int left = registers.integer(s.operands().get(1));
        int right = registers.integer(s.operands().get(2));
        int more = registers.integer(s.operands().get(3));
        return (warp, lanes) -> {
            int[] sum = warp.intsFor(to, lanes);
            int[] a = warp.ints[left];
            int[] b = warp.ints[right];
            int[] c = warp.ints[more];
            for (int lane = 0; lane < LANES; lane++) {
                sum[lane] = a[lane] * b[lane] + c[lane];
            }
            warp.settleInts(to, lanes);
        };
    }

    private static Op each(Statement s, Registers registers, IntBinaryOperator operator) {
        int to = registers.integer(s.operands().get(0));
        int left = registers.integer(s.operands().get(1));
        int right = registers.integer(s.operands().get(2));
        return (warp, lanes) -> {
            int[] result = warp.intsFor(to, lanes);
            int[] a = warp.ints[left];
            int[] b = warp.ints[right];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = operator.applyAsInt(a[lane], b[lane]);
            }
            warp.settleInts(to, lanes);
        };
    }

    private static Op of(Statement s, Registers registers, java.util.function.IntUnaryOperator operator) {
        int to = registers.integer(s.operands().get(0));
        int from = registers.integer(s.operands().get(1));
        return (warp, lanes) -> {
            int[] result = warp.intsFor(to, lanes);
            int[] a = warp.ints[from];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = operator.applyAsInt(a[lane]);
            }
            warp.settleInts(to, lanes);
        };
    }

    private static Op chosen(Statement s, Registers registers) {
        int to = registers.integer(s.operands().get(0));
        int yes = registers.integer(s.operands().get(1));
        int no = registers.integer(s.operands().get(2));
        int condition = registers.predicate(s.operands().get(3));
        return (warp, lanes) -> {
            int[] result = warp.intsFor(to, lanes);
            int[] a = warp.ints[yes];
            int[] b = warp.ints[no];
            int bits = warp.predicates[condition];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = (bits >>> lane & 1) != 0 ? a[lane] : b[lane];
            }
            warp.settleInts(to, lanes);
        };
    }
}
