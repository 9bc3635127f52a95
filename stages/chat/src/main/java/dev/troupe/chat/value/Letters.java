package dev.troupe.chat.value;

import java.util.BitSet;
import java.util.Locale;
import java.util.function.IntPredicate;

/** The classes of characters in Python: white space, digits, letters of each case. */
public final class Letters {
    private static final char SIGMA = '\u03a3';
    /** Signs that may be within a word, such as an apostrophe. */
    private static final String WITHIN_WORDS = "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";
    /** Digits that are no decimal ones, such as superscripts and circled digits. */
    private static final BitSet DIGITS = set(
            "b2-b3 b9 1369-1371 19da 2070 2074-2079 2080-2089 2460-2468 2474-247c 2488-2490 24ea "
                    + "24f5-24fd 24ff 2776-277e 2780-2788 278a-2792 10a40-10a43 10e60-10e68 11052-1105a "
                    + "1f100-1f10a");
    /** Ideographs that are numbers. */
    private static final BitSet NUMBERS = set(
            "3405 3483 382a 3b4d 4e00 4e03 4e07 4e09 4e5d 4e8c 4e94 4e96 4ebf-4ec0 4edf 4ee8 4f0d 4f70 "
                    + "5104 5146 5169 516b 516d 5341 5343-5345 534c 53c1-53c4 56db 58f1 58f9 5e7a 5efe-5eff "
                    + "5f0c-5f0e 5f10 62fe 634c 67d2 6f06 7396 767e 8086 842c 8cae 8cb3 8d30 9621 9646 964c 9678 "
                    + "96f6 f96b f973 f978 f9b2 f9d1 f9d3 f9fd 20001 20064 200e2 20121 2092a 20983 2098c 2099c "
                    + "20aea 20afd 20b19 22390 22998 23b1b 2626d 2f890");

    private Letters() {
    }

    private static BitSet set(String ranges) {
        BitSet set = new BitSet();
        for (String range : ranges.split(" ")) {
            String[] ends = range.split("-");
            set.set(Integer.parseInt(ends[0], 16), Integer.parseInt(ends[ends.length - 1], 16) + 1);
        }
        return set;
    }

    /** Returns whether a character is white space for {@code isspace}, {@code strip} and {@code split}. */
    public static boolean isSpace(int code) {
        return code >= 9 && code <= 13 || code >= 28 && code <= 32 || code == 0x85 || code == 0xa0 || code == 0x1680
                || code >= 0x2000 && code <= 0x200a || code == 0x2028 || code == 0x2029 || code == 0x202f
                || code == 0x205f
                || code == 0x3000;
    }

    public static boolean isLineEnd(int code) {
        return code >= 10 && code <= 13 || code >= 28 && code <= 30 || code == 0x85 || code == 0x2028 || code == 0x2029;
    }

    public static boolean isDecimal(int code) {
        return Character.getType(code) == Character.DECIMAL_DIGIT_NUMBER;
    }

    public static boolean isDigit(int code) {
        return isDecimal(code) || DIGITS.get(code);
    }

    public static boolean isNumeric(int code) {
        int type = Character.getType(code);
        return isDigit(code) || type == Character.LETTER_NUMBER || type == Character.OTHER_NUMBER || NUMBERS.get(code);
    }

    public static boolean isAlphanumeric(int code) {
        return Character.isLetter(code) || isNumeric(code);
    }

    public static boolean isPrintable(int code) {
        return code == ' ' || switch (Character.getType(code)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED,
                    Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SPACE_SEPARATOR ->
                false;
            default -> true;
        };
    }

    public static boolean isCased(int code) {
        return Character.isLowerCase(code) || Character.isUpperCase(code) || Character.isTitleCase(code);
    }

    /** Returns the value of a digit of any script in a base, or of a Latin letter; -1 if it is none. */
    public static int digit(int code, int base) {
        return code >= 0x80 && !isDecimal(code) ? -1 : Character.digit(code, base);
    }

    /** Returns whether a text has only digits, and at least one. */
    public static boolean isNumber(String text) {
        return areAll(text, Letters::isDigit);
    }

    public static boolean areAll(String text, IntPredicate test) {
        return !text.isEmpty() && text.codePoints().allMatch(test);
    }

    public static String lower(String text) {
        if (text.indexOf(SIGMA) < 0) {
            return text.toLowerCase(Locale.ROOT);
        }
        int[] codes = text.codePoints().toArray();
        StringBuilder lower = new StringBuilder();
        for (int i = 0; i < codes.length; i++) {
            lower.append(lower(codes, i));
        }
        return lower.toString();
    }

    /** Returns the small letter of a character; a sigma at the end of a word has a form of its own. */
    private static String lower(int[] codes, int index) {
        if (codes[index] != SIGMA) {
            return Character.toString(codes[index]).toLowerCase(Locale.ROOT);
        }
        return isCasedNear(codes, index, -1) && !isCasedNear(codes, index, 1) ? "\u03c2" : "\u03c3";
    }

    /** Returns whether the next character in a direction that case does not ignore is a letter with case. */
    private static boolean isCasedNear(int[] codes, int index, int direction) {
        int at = index + direction;
        while (at >= 0 && at < codes.length && isCaseIgnorable(codes[at])) {
            at += direction;
        }
        return at >= 0 && at < codes.length && isCased(codes[at]);
    }

    private static boolean isCaseIgnorable(int code) {
        return WITHIN_WORDS.indexOf(code) >= 0 || switch (Character.getType(code)) {
            case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.FORMAT, Character.MODIFIER_LETTER,
                    Character.MODIFIER_SYMBOL ->
                true;
            default -> false;
        };
    }

    public static String upper(String text) {
        Bounds.requireText(text.length() * 3L);
        return text.toUpperCase(Locale.ROOT);
    }

    /** Returns the form of a character at the beginning of a word. */
    private static String titled(int code) {
        if (Character.isTitleCase(code)) {
            return Character.toString(code);
        }
        int titled = Character.toTitleCase(code);
        String upper = Character.toString(code).toUpperCase(Locale.ROOT);
        if (titled != code || upper.codePointCount(0, upper.length()) == 1) {
            return Character.toString(titled);
        }
        int first = upper.codePointAt(0);
        String rest = upper.substring(Character.charCount(first));
        // A ligature has one large letter; a combining character has no case, or, below Greek letters, a small one.
        return code == 0x149
                ? upper
                : Character.toString(first) + (code >= 0x1f80 ? rest.replace('\u0399', '\u0345') : rest)
                        .toLowerCase(Locale.ROOT);
    }

    /** Returns the text with a capital letter first, and small ones after it. */
    public static String capitalized(String text) {
        int[] codes = text.codePoints().toArray();
        StringBuilder capitalized = new StringBuilder();
        for (int i = 0; i < codes.length; i++) {
            capitalized.append(i == 0 ? titled(codes[i]) : lower(codes, i));
        }
        return capitalized.toString();
    }

    public static String title(String text) {
        int[] codes = text.codePoints().toArray();
        StringBuilder title = new StringBuilder();
        for (int i = 0; i < codes.length; i++) {
            title.append(i > 0 && isCased(codes[i - 1]) ? lower(codes, i) : titled(codes[i]));
        }
        return title.toString();
    }

    public static boolean isTitle(String text) {
        boolean isInside = false;
        boolean hasCase = false;
        for (int code : text.codePoints().toArray()) {
            boolean isLarge = Character.isUpperCase(code) || Character.isTitleCase(code);
            boolean isSmall = Character.isLowerCase(code);
            if (isLarge && isInside || isSmall && !isInside) {
                return false;
            }
            isInside = isLarge || isSmall;
            hasCase |= isInside;
        }
        return hasCase;
    }

    public static boolean isLower(String text) {
        return text.codePoints().noneMatch(code -> Character.isUpperCase(code) || Character.isTitleCase(code))
                && text.codePoints().anyMatch(Character::isLowerCase);
    }

    public static boolean isUpper(String text) {
        return text.codePoints().noneMatch(code -> Character.isLowerCase(code) || Character.isTitleCase(code))
                && text.codePoints().anyMatch(Character::isUpperCase);
    }

    public static String swapped(String text) {
        int[] codes = text.codePoints().toArray();
        StringBuilder swapped = new StringBuilder();
        for (int i = 0; i < codes.length; i++) {
            String letter = Character.toString(codes[i]);
            swapped.append(Character.isUpperCase(codes[i])
                    ? lower(codes, i)
                    : Character.isLowerCase(codes[i]) ? upper(letter) : letter);
        }
        return swapped.toString();
    }

    /**
     * Returns a text without characters at its ends.
     *
     * @param signs the characters to drop; white space if {@code null}
     */
    public static String stripped(String text, String signs, boolean left, boolean right) {
        IntPredicate isCut = signs == null ? Letters::isSpace : code -> signs.indexOf(code) >= 0;
        int begin = 0;
        int end = text.length();
        while (left && begin < end && isCut.test(text.codePointAt(begin))) {
            begin += Character.charCount(text.codePointAt(begin));
        }
        while (right && end > begin && isCut.test(text.codePointBefore(end))) {
            end -= Character.charCount(text.codePointBefore(end));
        }
        return text.substring(begin, end);
    }
}
