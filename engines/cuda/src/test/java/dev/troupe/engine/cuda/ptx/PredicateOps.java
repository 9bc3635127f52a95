package dev.troupe.engine.cuda.ptx;

import static dev.troupe.engine.cuda.ptx.Warp.LANES;

import java.util.function.DoubleBinaryOperator;
import java.util.function.IntBinaryOperator;

/** Comparisons, and instructions on predicates. */
final class PredicateOps {
    private PredicateOps() {
    }

    /** The lanes in which a comparison holds; each comparison has its own loop, since these are frequent. */
    @FunctionalInterface
    private interface IntsTest {
        int bits(int[] left, int[] right);
    }

    private static IntsTest quick(String how) {
        return switch (how) {
            case "eq" -> (a, b) -> {
                int bits = 0;
                for (int lane = 0; lane < LANES; lane++) {
                    bits |= a[lane] == b[lane] ? 1 << lane : 0;
                }
                return bits;
            };
            case "lt" -> (a, b) -> {
                int bits = 0;
                for (int lane = 0; lane < LANES; lane++) {
                    bits |= a[lane] < b[lane] ? 1 << lane : 0;
                }
                return bits;
            };
            case "gt" -> (a, b) -> quick("lt").bits(b, a);
            case "ne" -> (a, b) -> ~quick("eq").bits(a, b);
            case "ge" -> (a, b) -> ~quick("lt").bits(a, b);
            case "le" -> (a, b) -> ~quick("lt").bits(b, a);
            default -> throw new IllegalArgumentException("no comparison " + how);
        };
    }

    @FunctionalInterface
    private interface LongTest {
        boolean holds(long left, long right);
    }

    /** The instruction, or null if it is of another kind. */
    static Op of(Statement s, Registers registers) {
        return switch (s.base()) {
            case "setp" -> compared(s, registers);
            case "and" -> s.type().equals("pred") ? each(s, registers, (a, b) -> a & b) : null;
            case "or" -> s.type().equals("pred") ? each(s, registers, (a, b) -> a | b) : null;
            case "xor" -> s.type().equals("pred") ? each(s, registers, (a, b) -> a ^ b) : null;
            case "not" -> s.type().equals("pred") ? inverted(s, registers) : null;
            case "mov" -> s.type().equals("pred") ? moved(s, registers) : null;
            default -> null;
        };
    }

    private static Op compared(Statement s, Registers registers) {
        String how = s.name().split("\\.")[1];
        return switch (s.type()) {
            case "f32" -> ofFloats(s, registers, how);
            case "s64", "b64" -> ofLongs(s, registers, signed(how));
            case "u64" -> ofLongs(s, registers, unsigned(how));
            case "s32", "b32" -> ofWords(s, registers, quick(how));
            case "s16", "b16" -> ofInts(s, registers, signed(how));
            case "u32", "u16" -> ofInts(s, registers, unsigned(how));
            default -> null;
        };
    }

    private static LongTest signed(String how) {
        return switch (how) {
            case "eq" -> (a, b) -> a == b;
            case "ne" -> (a, b) -> a != b;
            case "lt" -> (a, b) -> a < b;
            case "le" -> (a, b) -> a <= b;
            case "gt" -> (a, b) -> a > b;
            case "ge" -> (a, b) -> a >= b;
            default -> throw new IllegalArgumentException("no comparison " + how);
        };
    }

    private static LongTest unsigned(String how) {
        LongTest test = signed(how);
        // Moved by half the range, numbers without a sign have the order of those with one.
        return (a, b) -> test.holds(a + Long.MIN_VALUE, b + Long.MIN_VALUE);
    }

    private static Op ofWords(Statement s, Registers registers, IntsTest test) {
        int to = registers.predicate(s.operands().get(0));
        int left = registers.integer(s.operands().get(1));
        int right = registers.integer(s.operands().get(2));
        return (warp, lanes) -> warp.settlePredicate(to, lanes, test.bits(warp.ints[left], warp.ints[right]));
    }

    private static Op ofInts(Statement s, Registers registers, LongTest test) {
        int to = registers.predicate(s.operands().get(0));
        int left = registers.integer(s.operands().get(1));
        int right = registers.integer(s.operands().get(2));
        boolean isUnsigned = s.type().startsWith("u");
        boolean isShort = s.type().endsWith("16");
        return (warp, lanes) -> {
            int[] a = warp.ints[left];
            int[] b = warp.ints[right];
            int bits = 0;
            for (int lane = 0; lane < LANES; lane++) {
                boolean holds = isUnsigned
                        ? test.holds(Integer.toUnsignedLong(a[lane]), Integer.toUnsignedLong(b[lane]))
                        : isShort ? test.holds((short) a[lane], (short) b[lane]) : test.holds(a[lane], b[lane]);
                bits |= holds ? 1 << lane : 0;
            }
            warp.settlePredicate(to, lanes, bits);
        };
    }

    private static Op ofLongs(Statement s, Registers registers, LongTest test) {
        int to = registers.predicate(s.operands().get(0));
        int left = registers.wide(s.operands().get(1));
        int right = registers.wide(s.operands().get(2));
        return (warp, lanes) -> {
            int bits = 0;
            for (int lane = 0; lane < LANES; lane++) {
                bits |= test.holds(warp.longs[left][lane], warp.longs[right][lane]) ? 1 << lane : 0;
            }
            warp.settlePredicate(to, lanes, bits);
        };
    }

    private static Op ofFloats(Statement s, Registers registers, String how) {
        int to = registers.predicate(s.operands().get(0));
        int left = registers.real(s.operands().get(1));
        int right = registers.real(s.operands().get(2));
        DoubleBinaryOperator test = test(how);
        return (warp, lanes) -> {
            int bits = 0;
            for (int lane = 0; lane < LANES; lane++) {
                bits |= test.applyAsDouble(warp.floats[left][lane], warp.floats[right][lane]) != 0 ? 1 << lane : 0;
            }
            warp.settlePredicate(to, lanes, bits);
        };
    }

    /** A comparison with a {@code u} at its end holds if one of the two is NaN. */
    private static DoubleBinaryOperator test(String how) {
        return switch (how) {
            case "eq" -> (a, b) -> a == b ? 1 : 0;
            case "lt" -> (a, b) -> a < b ? 1 : 0;
            case "le" -> (a, b) -> a <= b ? 1 : 0;
            case "gt" -> (a, b) -> a > b ? 1 : 0;
            case "ge" -> (a, b) -> a >= b ? 1 : 0;
            case "ne" -> (a, b) -> a < b || a > b ? 1 : 0;
            case "nan" -> (a, b) -> a != a || b != b ? 1 : 0;
            case "neu" -> (a, b) -> a == b ? 0 : 1;
            case "equ" -> (a, b) -> a < b || a > b ? 0 : 1;
            case "ltu" -> (a, b) -> a >= b ? 0 : 1;
            case "leu" -> (a, b) -> a > b ? 0 : 1;
            case "gtu" -> (a, b) -> a <= b ? 0 : 1;
            case "geu" -> (a, b) -> a < b ? 0 : 1;
            default -> throw new IllegalArgumentException("no comparison " + how);
        };
    }

    private static Op each(Statement s, Registers registers, IntBinaryOperator operator) {
        int to = registers.predicate(s.operands().get(0));
        int left = registers.predicate(s.operands().get(1));
        int right = registers.predicate(s.operands().get(2));
        return (warp, lanes) -> warp.settlePredicate(to, lanes,
                operator.applyAsInt(warp.predicates[left], warp.predicates[right]));
    }

    private static Op inverted(Statement s, Registers registers) {
        int to = registers.predicate(s.operands().get(0));
        int from = registers.predicate(s.operands().get(1));
        return (warp, lanes) -> warp.settlePredicate(to, lanes, ~warp.predicates[from]);
    }

    private static Op moved(Statement s, Registers registers) {
        int to = registers.predicate(s.operands().get(0));
        String operand = s.operands().get(1);
        if (!operand.startsWith("%")) {
            int bits = operand.equals("0") ? 0 : -1;
            return (warp, lanes) -> warp.settlePredicate(to, lanes, bits);
        }
        int from = registers.predicate(operand);
        return (warp, lanes) -> warp.settlePredicate(to, lanes, warp.predicates[from]);
    }
}
