package dev.troupe.chat.syntax;

/**
 * A number in a template. Single underscores between its digits have no meaning.
 *
 * @param digits its text without underscores
 * @param isFloat whether it has a fraction or an exponent
 * @param end the index after it in the source
 */
record NumberLiteral(String digits, boolean isFloat, int end) {
    /** Returns the number that begins at a digit. */
    static NumberLiteral at(String source, int place) {
        int end = digits(source, place, 10);
        int fraction = source.startsWith(".", end) ? digits(source, end + 1, 10) : end + 1;
        int mantissa = fraction > end + 1 ? fraction : end;
        int exponent = exponentEnd(source, mantissa);
        int last = Math.max(mantissa, exponent);
        boolean followsDot = place > 0 && source.charAt(place - 1) == '.';
        if (last > end && !followsDot) {
            return of(source, place, last, true);
        }
        int prefixed = prefixedEnd(source, place);
        if (prefixed > 0) {
            return of(source, place, prefixed, false);
        }
        // A number with a leading 0 is none for Jinja, unless it is 0: it reads the zeros, and then another number.
        return of(source, place, source.charAt(place) == '0' ? zeros(source, place) : end, false);
    }

    private static NumberLiteral of(String source, int from, int to, boolean isFloat) {
        return new NumberLiteral(source.substring(from, to).replace("_", ""), isFloat, to);
    }

    private static int digits(String source, int from, int base) {
        int end = from;
        while (isDigit(source, end, base)
                || end > from && source.startsWith("_", end) && isDigit(source, end + 1, base)) {
            end++;
        }
        return end;
    }

    private static boolean isDigit(String source, int place, int base) {
        return place < source.length() && source.charAt(place) < 0x80
                && Character.digit(source.charAt(place), base) >= 0;
    }

    private static int exponentEnd(String source, int from) {
        if (!source.startsWith("e", from) && !source.startsWith("E", from)) {
            return -1;
        }
        boolean hasSign = source.startsWith("+", from + 1) || source.startsWith("-", from + 1);
        int begin = from + (hasSign ? 2 : 1);
        int end = digits(source, begin, 10);
        return end > begin ? end : -1;
    }

    private static int prefixedEnd(String source, int place) {
        int base = !source.startsWith("0", place) || place + 1 == source.length()
                ? 0
                : switch (source.charAt(place + 1)) {
                    case 'x', 'X' -> 16;
                    case 'o', 'O' -> 8;
                    case 'b', 'B' -> 2;
                    default -> 0;
                };
        if (base == 0) {
            return -1;
        }
        int begin = place + (source.startsWith("_", place + 2) ? 3 : 2);
        int end = digits(source, begin, base);
        return end > begin ? end : -1;
    }

    private static int zeros(String source, int place) {
        int end = place;
        while (source.startsWith("0", end) || source.startsWith("_0", end)) {
            end++;
        }
        return end;
    }
}
