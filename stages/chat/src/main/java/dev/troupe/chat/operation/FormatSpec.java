package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Types;
import java.math.BigInteger;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The format after the colon in a field of Python's {@code str.format}, such as {@code >8.3f}. */
final class FormatSpec {
    private static final Pattern SPEC = Pattern.compile(
            "(?s)(?:(?<fill>.)?(?<align>[<>=^]))?(?<sign>[-+ ])?(?<alternate>#)?(?<zero>0)?(?<width>\\d{1,9})?(?<group>[,_])?"
                    + "(?:\\.(?<precision>\\d{1,9}))?(?<type>[bcdeEfFgGosxX%])?");

    private final boolean isAlternate;
    private final boolean hasZero;
    private final int width;
    private final int precision;
    private final char type;
    private final String fill;
    private final String align;
    private final String sign;
    private final String group;

    private FormatSpec(Matcher spec) {
        this.isAlternate = spec.group("alternate") != null;
        this.hasZero = spec.group("zero") != null;
        this.width = number(spec.group("width"), 0);
        this.precision = number(spec.group("precision"), -1);
        this.type = spec.group("type") == null ? 0 : spec.group("type").charAt(0);
        this.fill = spec.group("fill");
        this.align = spec.group("align");
        this.sign = spec.group("sign");
        this.group = spec.group("group") == null ? "" : spec.group("group");
    }

    private static int number(String digits, int otherwise) {
        return digits == null ? otherwise : Bounds.requireText(Integer.parseInt(digits));
    }

    static String formatted(Object value, String spec) {
        if (spec.isEmpty()) {
            return Printing.printed(value);
        }
        if (!Types.isNumber(value) && !(value instanceof String)) {
            throw new TemplateException(Types.described(value) + " has no format but the empty one");
        }
        Matcher matcher = SPEC.matcher(spec);
        if (!matcher.matches()) {
            throw new TemplateException("a field has a format that is not known");
        }
        FormatSpec format = new FormatSpec(matcher);
        if (value instanceof String text) {
            return format.text(text);
        }
        BigInteger whole = Types.integer(value);
        return whole != null && "eEfFgG%".indexOf(format.type) < 0
                ? format.whole(whole)
                : format.floating(Numbers.asFloat(value));
    }

    private TemplateException wrong(String kind) {
        return new TemplateException("a field has a format that " + kind + " does not take");
    }

    private String text(String text) {
        if (type != 0 && type != 's' || sign != null || isAlternate || !group.isEmpty() || "=".equals(align)) {
            throw wrong("a text");
        }
        String cut = precision < 0 ? text : AttributeLookup.part(text, None.NONE, BigInteger.valueOf(precision));
        return padded("", cut, "<");
    }

    private String whole(BigInteger number) {
        if (precision >= 0 || type == 's') {
            throw wrong("a whole number");
        }
        if (type == 'c') {
            int code = Numbers.clamped(number);
            if (sign != null || isAlternate || !Character.isValidCodePoint(code)) {
                throw wrong("a character");
            }
            return padded("", Character.toString(code), ">");
        }
        int radix = switch (type) {
            case 'b' -> 2;
            case 'o' -> 8;
            case 'x', 'X' -> 16;
            default -> 10;
        };
        if (radix != 10 && group.equals(",")) {
            throw wrong("a number of another base");
        }
        String digits = radix == 10 ? Numbers.printed(number.abs()) : number.abs().toString(radix);
        String prefix = isAlternate && radix != 10 ? "0" + type : "";
        return padded(sign(number.signum() < 0) + prefix,
                grouped(type == 'X' ? digits.toUpperCase(Locale.ROOT) : digits, radix == 10 ? 3 : 4), ">");
    }

    private String floating(double number) {
        if (type == 0 ? isAlternate : "eEfFgG%".indexOf(type) < 0) {
            throw wrong("a float");
        }
        boolean isNegative = number < 0 || number == 0 && 1 / number < 0;
        double absolute = Math.abs(number);
        String digits = switch (type) {
            case 0 -> precision < 0
                    ? Numbers.printed(absolute)
                    : new FloatFormat('g', precision, false, true).text(absolute);
            case '%' ->
                new FloatFormat('f', precision < 0 ? 6 : precision, isAlternate, false).text(absolute * 100) + "%";
            default -> new FloatFormat(type, precision < 0 ? 6 : precision, isAlternate, false).text(absolute);
        };
        int point = 0;
        while (point < digits.length() && Character.isDigit(digits.charAt(point))) {
            point++;
        }
        return padded(sign(isNegative), grouped(digits.substring(0, point), 3) + digits.substring(point), ">");
    }

    private String sign(boolean isNegative) {
        return isNegative ? "-" : sign == null || sign.equals("-") ? "" : sign;
    }

    private String grouped(String digits, int size) {
        if (group.isEmpty()) {
            return digits;
        }
        boolean fillsZeros = align == null
                ? hasZero
                : align.equals("=") && (hasZero && fill == null || "0".equals(fill));
        if (fillsZeros && width > digits.length()) {
            throw new TemplateException("a format with groups of digits and zeros before them is not supported here");
        }
        StringBuilder grouped = new StringBuilder(digits);
        for (int at = digits.length() - size; at > 0; at -= size) {
            grouped.insert(at, group);
        }
        return grouped.toString();
    }

    private String padded(String sign, String digits, String otherwise) {
        String letter = fill != null ? fill : hasZero && (align == null || fill == null) ? "0" : " ";
        String place = align != null ? align : hasZero && otherwise.equals(">") ? "=" : otherwise;
        int missing = width - sign.length() - digits.codePointCount(0, digits.length());
        if (missing <= 0) {
            return sign + digits;
        }
        String all = letter.repeat(missing);
        return switch (place) {
            case "<" -> sign + digits + all;
            case ">" -> all + sign + digits;
            case "=" -> sign + all + digits;
            default -> letter.repeat(missing / 2) + sign + digits + letter.repeat(missing - missing / 2);
        };
    }
}
