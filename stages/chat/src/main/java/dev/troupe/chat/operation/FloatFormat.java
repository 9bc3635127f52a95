package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/**
 * The format of floats in C.
 *
 * @param type {@code e}, {@code f} or {@code g}; a capital letter writes capital letters
 * @param precision digits after the point, or for {@code g} all digits
 * @param isAlternate whether the point and the zeros at the end stay
 * @param hasFraction whether {@code g} writes {@code .0} after a whole number
 */
record FloatFormat(char type, int precision, boolean isAlternate, boolean hasFraction) {
    /** Returns the text of a number that is not negative. */
    String text(double number) {
        Bounds.requireText(precision);
        String text = Double.isNaN(number) ? "nan" : Double.isInfinite(number) ? "inf" : finite(new BigDecimal(number));
        return Character.isUpperCase(type) ? text.toUpperCase(Locale.ROOT) : text;
    }

    private String finite(BigDecimal number) {
        return switch (Character.toLowerCase(type)) {
            case 'f' -> number.setScale(precision, RoundingMode.HALF_EVEN).toPlainString()
                    + (precision == 0 && isAlternate ? "." : "");
            case 'e' -> exponential(number, precision);
            default -> general(number, Math.max(1, precision));
        };
    }

    private String exponential(BigDecimal number, int digits) {
        BigDecimal rounded = number.round(new MathContext(digits + 1, RoundingMode.HALF_EVEN));
        int exponent = number.signum() == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
        String mantissa = rounded.movePointLeft(exponent).setScale(digits, RoundingMode.HALF_EVEN).toPlainString();
        return (isAlternate && digits == 0 ? mantissa + "." : mantissa) + "e" + (exponent < 0 ? "-" : "+")
                + String.format(Locale.ROOT, "%02d", Math.abs(exponent));
    }

    private String general(BigDecimal number, int digits) {
        BigDecimal rounded = number.round(new MathContext(digits, RoundingMode.HALF_EVEN));
        int exponent = number.signum() == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
        if (exponent < -4 || exponent >= digits - (hasFraction ? 1 : 0)) {
            String text = exponential(number, digits - 1);
            int end = text.indexOf('e');
            return (isAlternate ? text.substring(0, end) : withoutZeros(text.substring(0, end))) + text.substring(end);
        }
        String text = rounded.setScale(Math.max(0, digits - 1 - exponent), RoundingMode.HALF_EVEN).toPlainString();
        String shorter = !isAlternate ? withoutZeros(text) : text.indexOf('.') < 0 ? text + "." : text;
        return hasFraction && shorter.indexOf('.') < 0 ? shorter + ".0" : shorter;
    }

    private static String withoutZeros(String text) {
        if (text.indexOf('.') < 0) {
            return text;
        }
        int end = text.length();
        while (text.charAt(end - 1) == '0') {
            end--;
        }
        return text.substring(0, text.charAt(end - 1) == '.' ? end - 1 : end);
    }
}
