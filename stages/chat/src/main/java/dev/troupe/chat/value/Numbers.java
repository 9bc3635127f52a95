package dev.troupe.chat.value;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Pattern;

/** The reading and writing of numbers by Python's rules. */
public final class Numbers {
    private static final Pattern FLOAT = Pattern.compile(
            "[+-]?(?:\\d++(?:_\\d++)*+(?:\\.(?:\\d++(?:_\\d++)*+)?+)?+|\\.\\d++(?:_\\d++)*+)(?:[eE][+-]?\\d++(?:_\\d++)*+)?+");
    private static final BigInteger HIGHEST = BigInteger.valueOf(Integer.MAX_VALUE);

    private Numbers() {
    }

    /** Returns a number as an int of Java; a number out of its range becomes the largest or the smallest. */
    public static int clamped(BigInteger number) {
        return number.bitLength() < 32
                ? number.intValue()
                : number.signum() < 0 ? Integer.MIN_VALUE : Integer.MAX_VALUE;
    }

    /** Returns a whole number as a float; refused if it is too large. */
    public static double asFloat(BigInteger number) {
        double value = number.doubleValue();
        if (Double.isInfinite(value)) {
            throw new TemplateException("a whole number is too large for a float");
        }
        return value;
    }

    public static double asFloat(Object number) {
        return number instanceof Double value ? value : asFloat(Types.index(number));
    }

    /** Returns a float without its fraction; refused if it is infinite or not a number. */
    public static BigInteger truncated(double number) {
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            throw new TemplateException("an infinite float has no whole number");
        }
        return new BigDecimal(number).toBigInteger();
    }

    /** Returns a whole number in decimal digits; refused if it has more digits than Python writes. */
    public static String printed(BigInteger number) {
        if (number.bitLength() > Bounds.MOST_DIGITS * 10 / 3) {
            String digits = number.bitLength() > Bounds.MOST_BITS ? "" : number.abs().toString();
            if (digits.isEmpty() || digits.length() > Bounds.MOST_DIGITS) {
                throw new TemplateException("a number has more than " + Bounds.MOST_DIGITS + " digits");
            }
        }
        return number.toString();
    }

    /** Returns a float in the form of Python's {@code repr}: the shortest decimal number that reads as the same float. */
    public static String printed(double number) {
        if (Double.isNaN(number)) {
            return "nan";
        }
        if (Double.isInfinite(number)) {
            return number > 0 ? "inf" : "-inf";
        }
        if (number == 0) {
            return 1 / number < 0 ? "-0.0" : "0.0";
        }
        BigDecimal shortest = shortest(Math.abs(number));
        String digits = shortest.unscaledValue().toString();
        int point = digits.length() - shortest.scale();
        String sign = number < 0 ? "-" : "";
        if (point > 16 || point < -3) {
            String mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
            return sign + mantissa + "e" + (point < 1 ? "-" : "+")
                    + String.format(Locale.ROOT, "%02d", Math.abs(point - 1));
        }
        if (point <= 0) {
            return sign + "0." + "0".repeat(-point) + digits;
        }
        return sign + (point >= digits.length()
                ? digits + "0".repeat(point - digits.length()) + ".0"
                : digits.substring(0, point) + "." + digits.substring(point));
    }

    /** Java writes at least two digits and takes the nearest of those; Python takes one if one is enough. */
    private static BigDecimal shortest(double number) {
        BigDecimal java = new BigDecimal(Double.toString(number)).stripTrailingZeros();
        if (java.precision() == 2) {
            for (RoundingMode mode : new RoundingMode[]{RoundingMode.HALF_EVEN, RoundingMode.DOWN, RoundingMode.UP}) {
                BigDecimal shorter = java.round(new MathContext(1, mode));
                if (shorter.doubleValue() == number) {
                    return shorter.stripTrailingZeros();
                }
            }
        }
        return java;
    }

    /**
     * Returns the number of a text by Python's {@code int}; {@code null} if it is none.
     *
     * @param base 2 to 36, or 0 for the prefix of the text
     */
    public static BigInteger parsedInteger(String text, int base) {
        String trimmed = trimmed(text);
        boolean isNegative = trimmed.startsWith("-");
        String digits = isNegative || trimmed.startsWith("+") ? trimmed.substring(1) : trimmed;
        int prefixed = digits.length() > 1 && digits.charAt(0) == '0' ? switch (digits.charAt(1)) {
            case 'x', 'X' -> 16;
            case 'o', 'O' -> 8;
            case 'b', 'B' -> 2;
            default -> 0;
        } : 0;
        boolean hasPrefix = prefixed > 0 && (base == 0 || base == prefixed);
        int radix = hasPrefix ? prefixed : base == 0 ? 10 : base;
        String rest = hasPrefix ? digits.substring(digits.startsWith("_", 2) ? 3 : 2) : digits;
        if (rest.isEmpty() || rest.startsWith("_") || rest.endsWith("_") || rest.contains("__")
                || !rest.codePoints().allMatch(code -> code == '_' || Letters.digit(code, radix) >= 0)) {
            return null;
        }
        String plain = rest.replace("_", "");
        if (base == 0 && !hasPrefix && plain.startsWith("0") && !plain.chars().allMatch(sign -> sign == '0')) {
            return null;
        }
        if (plain.length() > Bounds.MOST_DIGITS) {
            throw new TemplateException("a number has more than " + Bounds.MOST_DIGITS + " digits");
        }
        BigInteger number = new BigInteger(plain, radix);
        return isNegative ? number.negate() : number;
    }

    /** Drops white space; ASCII's separators are white space for {@code strip}, but not around numbers. */
    private static String trimmed(String text) {
        int begin = 0;
        int end = text.length();
        while (begin < end && isSpace(text.charAt(begin))) {
            begin++;
        }
        while (end > begin && isSpace(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(begin, end);
    }

    private static boolean isSpace(char letter) {
        return Letters.isSpace(letter) && (letter < 0x1c || letter > 0x1f);
    }

    private static String withAsciiDigits(String text) {
        StringBuilder digits = new StringBuilder();
        text.codePoints().forEach(code -> digits
                .appendCodePoint(Letters.isDecimal(code) ? '0' + Character.digit(code, 10) : code));
        return digits.toString();
    }

    /** Returns the number of a text by Python's {@code float}; {@code null} if it is none. */
    public static Double parsedFloat(String text) {
        String trimmed = withAsciiDigits(trimmed(text));
        if (trimmed.length() > Bounds.MOST_DIGITS) {
            throw new TemplateException("a number has more than " + Bounds.MOST_DIGITS + " digits");
        }
        String sign = trimmed.startsWith("-") ? "-" : "";
        String name = trimmed.startsWith("-") || trimmed.startsWith("+") ? trimmed.substring(1) : trimmed;
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "nan" -> Double.NaN;
            case "inf", "infinity" -> sign.isEmpty() ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
            default -> FLOAT.matcher(trimmed).matches() ? Double.valueOf(trimmed.replace("_", "")) : null;
        };
    }

    /** Returns a number rounded by Python's {@code round}: to the even one of two that are equally near. */
    public static Object rounded(Object number, Object digits) {
        boolean isWhole = digits == null || digits == None.NONE;
        int places = isWhole ? 0 : clamped(Types.index(digits));
        if (number instanceof Double value) {
            if (isWhole) {
                truncated(value);
                return new BigDecimal(value).setScale(0, RoundingMode.HALF_EVEN).toBigInteger();
            }
            if (value.isNaN() || value.isInfinite() || places > 400) {
                return value;
            }
            if (places < -400) {
                return Math.copySign(0.0, value);
            }
            double rounded = new BigDecimal(value).setScale(places, RoundingMode.HALF_EVEN).doubleValue();
            return Math.copySign(rounded, value);
        }
        BigInteger whole = Types.index(number);
        if (places >= 0) {
            return whole;
        }
        return places < -Bounds.MOST_DIGITS * 2
                ? BigInteger.ZERO
                : new BigDecimal(whole).setScale(places, RoundingMode.HALF_EVEN).toBigInteger();
    }

    public static boolean fitsInt(BigInteger number) {
        return number.abs().compareTo(HIGHEST) <= 0;
    }
}
