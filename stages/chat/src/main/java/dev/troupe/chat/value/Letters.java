package dev.troupe.chat.value;

import java.util.BitSet;
import java.util.Locale;
import java.util.function.IntPredicate;

/** Characters as Python sorts them: white space, digits, letters of each case. */
public final class Letters {
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

    /** White space, as {@code isspace}, {@code strip} and {@code split} take it. */
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

    /** Letters and whatever is a number. */
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

    /** The value of a digit of any script in a base, or of a Latin letter; -1 if it is none. */
    public static int digit(int code, int base) {
        return code >= 0x80 && !isDecimal(code) ? -1 : Character.digit(code, base);
    }

    /** Whether a text has digits and nothing else. */
    public static boolean isNumber(String text) {
        return areAll(text, Letters::isDigit);
    }

    /** Whether a text has characters and all pass. */
    public static boolean areAll(String text, IntPredicate test) {
        return !text.isEmpty() && text.codePoints().allMatch(test);
    }

    /** Small letters. */
    public static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }

    /** Capital letters. */
    public static String upper(String text) {
        Bounds.requireText(text.length() * 3L);
        return text.toUpperCase(Locale.ROOT);
    }

    /** A character as it begins a word. */
    private static String titled(int code) {
        int titled = Character.toTitleCase(code);
        String upper = Character.toString(code).toUpperCase(Locale.ROOT);
        if (titled != code || upper.codePointCount(0, upper.length()) == 1) {
            return Character.toString(titled);
        }
        int first = upper.codePointAt(0);
        String rest = upper.substring(Character.charCount(first));
        // A ligature has one large letter; what is combined with a letter has no case, or, below Greek letters, a
        // small one.
        return code == 0x149
                ? upper
                : Character.toString(first) + (code >= 0x1f80 ? rest.replace('\u0399', '\u0345') : rest)
                        .toLowerCase(Locale.ROOT);
    }

    /** A capital letter first, and small ones. */
    public static String capitalized(String text) {
        if (text.isEmpty()) {
            return text;
        }
        int first = text.codePointAt(0);
        // The whole text is made lower, since the form of a final sigma depends on what is before it.
        return titled(first) + lower(text).substring(lower(Character.toString(first)).length());
    }

    public static String title(String text) {
        StringBuilder title = new StringBuilder();
        boolean isInside = false;
        for (int i = 0; i < text.length();) {
            int code = text.codePointAt(i);
            int end = i + Character.charCount(code);
            if (!isInside) {
                title.append(titled(code));
            } else if (code == 0x3a3) {
                title.append(end < text.length() && isCased(text.codePointAt(end)) ? '\u03c3' : '\u03c2');
            } else {
                title.append(lower(Character.toString(code)));
            }
            isInside = isCased(code);
            i = end;
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
        StringBuilder swapped = new StringBuilder();
        text.codePoints().forEach(code -> {
            String letter = Character.toString(code);
            swapped.append(
                    Character.isUpperCase(code) ? lower(letter) : Character.isLowerCase(code) ? upper(letter) : letter);
        });
        return swapped.toString();
    }

    /**
     * A text without characters at its ends.
     *
     * @param signs
     *            the characters to take off; white space if {@code null}
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
