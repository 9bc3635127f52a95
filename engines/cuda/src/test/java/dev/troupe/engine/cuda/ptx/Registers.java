package dev.troupe.engine.cuda.ptx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The registers of a kernel by name, and its constants, which are registers that nobody writes. Registers of 16 and 32 bits
 * are integers; the others have a file each.
 */
final class Registers {
    private final Map<String, Integer> places = new HashMap<>();
    private final Map<String, Character> files = new HashMap<>();
    private final List<Integer> ints = new ArrayList<>();
    private final List<Long> longs = new ArrayList<>();
    private final List<Float> floats = new ArrayList<>();
    private final List<Double> doubles = new ArrayList<>();
    private int predicates;

    /** Declares {@code %r<37>}, or one of this name. */
    void declare(String type, String name) {
        int bracket = name.indexOf('<');
        if (bracket < 0) {
            declareOne(type, name);
        } else {
            int count = Integer.parseInt(name.substring(bracket + 1, name.length() - 1));
            for (int i = 0; i < count; i++) {
                declareOne(type, name.substring(0, bracket) + i);
            }
        }
    }

    private void declareOne(String type, String name) {
        char file = file(type);
        if (files.put(name, file) == null) {
            places.put(name, switch (file) {
                case 'p' -> predicates++;
                case 'i' -> added(ints, 0xDEADBEEF);
                case 'l' -> added(longs, 0xDEADBEEFDEADBEEFL);
                case 'f' -> added(floats, Float.NaN);
                default -> added(doubles, Double.NaN);
            });
        }
    }

    private static char file(String type) {
        return switch (type) {
            case "pred" -> 'p';
            case "f32" -> 'f';
            case "f64" -> 'd';
            case "b64", "u64", "s64" -> 'l';
            case "b16", "u16", "s16", "b32", "u32", "s32" -> 'i';
            default -> throw new IllegalArgumentException("no registers of type " + type);
        };
    }

    /** The file of a register: p, i, l, f or d. */
    char fileOf(String name) {
        return files.getOrDefault(name, '?');
    }

    int predicate(String name) {
        return place(name, 'p');
    }

    /** A register or a constant of up to 32 bits. */
    int integer(String operand) {
        return isConstant(operand) ? added(ints, (int) number(operand)) : place(operand, 'i');
    }

    int wide(String operand) {
        return isConstant(operand) ? added(longs, number(operand)) : place(operand, 'l');
    }

    int wide(long constant) {
        return added(longs, constant);
    }

    int real(String operand) {
        return isConstant(operand)
                ? added(floats, Float.intBitsToFloat(Integer.parseUnsignedInt(operand.substring(2), 16)))
                : place(operand, 'f');
    }

    int precise(String operand) {
        return isConstant(operand)
                ? added(doubles, Double.longBitsToDouble(Long.parseUnsignedLong(operand.substring(2), 16)))
                : place(operand, 'd');
    }

    private static boolean isConstant(String operand) {
        return Character.isDigit(operand.charAt(0)) || operand.charAt(0) == '-';
    }

    private int place(String name, char file) {
        if (fileOf(name) != file) {
            throw new IllegalArgumentException("register " + name + " is of file " + fileOf(name) + ", not " + file);
        }
        return places.get(name);
    }

    private static long number(String operand) {
        return operand.startsWith("0x") ? Long.parseUnsignedLong(operand.substring(2), 16) : Long.parseLong(operand);
    }

    private static <N> int added(List<N> numbers, N number) {
        numbers.add(number);
        return numbers.size() - 1;
    }

    int predicateCount() {
        return predicates;
    }

    /** The initial contents of registers: constants, or numbers that nobody should read. */
    List<Integer> ints() {
        return ints;
    }

    List<Long> longs() {
        return longs;
    }

    List<Float> floats() {
        return floats;
    }

    List<Double> doubles() {
        return doubles;
    }
}
