package dev.troupe.tokenizer.huggingface;

import java.util.function.IntPredicate;

/** A set of code points, with a bit for each code point of the first plane. Immutable; any thread may read it. */
final class CodeSet {
    private static final int PLANE = 1 << 16;

    private final long[] bits = new long[PLANE / Long.SIZE];
    private final IntPredicate beyond;

    /** Creates the set of code points that satisfy a predicate. */
    CodeSet(IntPredicate predicate) {
        for (int code = 0; code < PLANE; code++) {
            if (predicate.test(code)) {
                bits[code >> 6] |= 1L << code;
            }
        }
        this.beyond = predicate;
    }

    boolean has(int code) {
        return code < PLANE ? (bits[code >> 6] >>> code & 1) != 0 : beyond.test(code);
    }

    /** Returns whether the first plane has a code point that is in this set and satisfies a predicate. */
    boolean hasAny(IntPredicate predicate) {
        for (int code = 0; code < PLANE; code++) {
            if (has(code) && predicate.test(code)) {
                return true;
            }
        }
        return false;
    }

    /** Unicode's White_Space, the meaning of {@code \s} in these files. */
    static boolean isSpace(int code) {
        return code >= 0x09 && code <= 0x0D || code == 0x85 || Character.isSpaceChar(code);
    }

    /** Unicode's categories Nd, Nl and No. */
    static boolean isNumber(int code) {
        return switch (Character.getType(code)) {
            case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER -> true;
            default -> false;
        };
    }

    /** Returns the code point at a position; an unpaired surrogate counts as one. */
    static int at(char[] text, int position, int end) {
        char first = text[position];
        return Character.isHighSurrogate(first) && position + 1 < end && Character.isLowSurrogate(text[position + 1])
                ? Character.toCodePoint(first, text[position + 1])
                : first;
    }
}
