package dev.troupe.engine.cuda.ptx;

import static dev.troupe.engine.cuda.ptx.Warp.LANES;

import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/** Instructions on integers of 64 bits, and between these and narrower ones. */
final class WideOps {
    private static final long WORD = 0xFFFF_FFFFL;

    private WideOps() {
    }

    /** The instruction, or null if it is of another kind. */
    static Op of(Statement s, Registers registers) {
        return switch (s.name()) {
            case "add.s64", "add.u64" -> added(s, registers);
            case "sub.s64" -> each(s, registers, (a, b) -> a - b);
            case "mul.lo.s64" -> each(s, registers, (a, b) -> a * b);
            case "and.b64" -> each(s, registers, (a, b) -> a & b);
            case "or.b64" -> each(s, registers, (a, b) -> a | b);
            case "xor.b64" -> each(s, registers, (a, b) -> a ^ b);
            case "div.s64" -> each(s, registers, (a, b) -> b == 0 ? -1 : a / b);
            case "rem.s64" -> each(s, registers, (a, b) -> b == 0 ? a : a % b);
            case "div.u64" -> each(s, registers, (a, b) -> b == 0 ? -1 : Long.divideUnsigned(a, b));
            case "rem.u64" -> each(s, registers, (a, b) -> b == 0 ? a : Long.remainderUnsigned(a, b));
            case "min.s64" -> each(s, registers, Math::min);
            case "max.s64" -> each(s, registers, Math::max);
            case "shl.b64" -> shifted(s, registers, (a, b) -> b > 63 ? 0 : a << b);
            case "shr.u64", "shr.b64" -> shifted(s, registers, (a, b) -> b > 63 ? 0 : a >>> b);
            case "shr.s64" -> shifted(s, registers, (a, b) -> a >> Math.min(b, 63));
            case "mul.wide.s32" -> widened(s, registers, (a, b) -> (long) (int) a * (int) b);
            case "mul.wide.u32" -> widened(s, registers, (a, b) -> (a & WORD) * (b & WORD));
            case "cvt.s64.s32" -> widened(s, registers, a -> a);
            case "cvt.s64.s16" -> widened(s, registers, a -> (short) a);
            case "cvt.u64.u32" -> widened(s, registers, a -> a & WORD);
            case "cvt.u32.u64", "cvt.s32.s64" -> cut(s, registers);
            case "cvta.to.global.u64", "cvta.global.u64", "cvta.to.shared.u64", "cvta.shared.u64" ->
                copied(s, registers);
            case "selp.b64", "selp.u64", "selp.s64" -> chosen(s, registers);
            default -> null;
        };
    }

    private static Op added(Statement s, Registers registers) {
        int to = registers.wide(s.operands().get(0));
        int left = registers.wide(s.operands().get(1));
        int right = registers.wide(s.operands().get(2));
        return (warp, lanes) -> {
            long[] sum = warp.longsFor(to, lanes);
            long[] a = warp.longs[left];
            long[] b = warp.longs[right];
            for (int lane = 0; lane < LANES; lane++) {
                sum[lane] = a[lane] + b[lane];
            }
            warp.settleLongs(to, lanes);
        };
    }

    private static Op each(Statement s, Registers registers, LongBinaryOperator operator) {
        int to = registers.wide(s.operands().get(0));
        int left = registers.wide(s.operands().get(1));
        int right = registers.wide(s.operands().get(2));
        return (warp, lanes) -> {
            long[] result = warp.longsFor(to, lanes);
            long[] a = warp.longs[left];
            long[] b = warp.longs[right];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = operator.applyAsLong(a[lane], b[lane]);
            }
            warp.settleLongs(to, lanes);
        };
    }

    private static Op shifted(Statement s, Registers registers, LongBinaryOperator operator) {
        int to = registers.wide(s.operands().get(0));
        int left = registers.wide(s.operands().get(1));
        int right = registers.integer(s.operands().get(2));
        return (warp, lanes) -> {
            long[] result = warp.longsFor(to, lanes);
            long[] a = warp.longs[left];
            int[] b = warp.ints[right];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = operator.applyAsLong(a[lane], b[lane] & WORD);
            }
            warp.settleLongs(to, lanes);
        };
    }

    private static Op widened(Statement s, Registers registers, LongBinaryOperator operator) {
        int to = registers.wide(s.operands().get(0));
        int left = registers.integer(s.operands().get(1));
        int right = registers.integer(s.operands().get(2));
        return (warp, lanes) -> {
            long[] result = warp.longsFor(to, lanes);
            int[] a = warp.ints[left];
            int[] b = warp.ints[right];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = operator.applyAsLong(a[lane], b[lane]);
            }
            warp.settleLongs(to, lanes);
        };
    }

    private static Op widened(Statement s, Registers registers, LongUnaryOperator operator) {
        int to = registers.wide(s.operands().get(0));
        int from = registers.integer(s.operands().get(1));
        return (warp, lanes) -> {
            long[] result = warp.longsFor(to, lanes);
            int[] a = warp.ints[from];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = operator.applyAsLong(a[lane]);
            }
            warp.settleLongs(to, lanes);
        };
    }

    private static Op cut(Statement s, Registers registers) {
        int to = registers.integer(s.operands().get(0));
        int from = registers.wide(s.operands().get(1));
        return (warp, lanes) -> {
            int[] result = warp.intsFor(to, lanes);
            long[] a = warp.longs[from];
            for (int lane = 0; lane < LANES; lane++) {
                result[lane] = (int) a[lane];
            }
            warp.settleInts(to, lanes);
        };
    }

    private static Op copied(Statement s, Registers registers) {
        return copied(registers.wide(s.operands().get(0)), registers.wide(s.operands().get(1)));
    }

    static Op copied(int to, int from) {
        return (warp, lanes) -> {
            System.arraycopy(warp.longs[from], 0, warp.longsFor(to, lanes), 0, LANES);
            warp.settleLongs(to, lanes);
        };
    }

    private static Op chosen(Statement s, Registers registers) {
        int to = registers.wide(s.operands().get(0));
        int yes = registers.wide(s.operands().get(1));
        int no = registers.wide(s.operands().get(2));
        int condition = registers.predicate(s.operands().get(3));
        return (warp, lanes) -> {
            long[] result = warp.longsFor(to, lanes);
            for (int lane = 0; lane < LANES; lane++) {
                boolean isYes = (warp.predicates[condition] >>> lane & 1) != 0;
                result[lane] = warp.longs[isYes ? yes : no][lane];
            }
            warp.settleLongs(to, lanes);
        };
    }
}
