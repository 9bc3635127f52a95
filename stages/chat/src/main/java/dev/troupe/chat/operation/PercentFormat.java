package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.DictView;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.util.List;
import java.util.Locale;

/** Python's {@code format % values}. */
public final class PercentFormat {
    private final String format;
    private final Object values;
    private final List<Object> several;
    private final StringBuilder text = new StringBuilder();
    private int used;
    private int at;

    private PercentFormat(String format, Object values) {
        this.format = format;
        this.values = values;
        this.several = values instanceof Tuple tuple ? tuple.items() : List.of(values);
    }

    /** Returns the text of a format with its values: a tuple, a dict for names, or one value. */
    public static String formatted(String format, Object values) {
        PercentFormat formatting = new PercentFormat(format, values);
        while (formatting.at < format.length()) {
            int sign = format.indexOf('%', formatting.at);
            int end = sign < 0 ? format.length() : sign;
            formatting.append(format.substring(formatting.at, end));
            formatting.at = end;
            if (sign >= 0) {
                formatting.at++;
                formatting.field();
            }
        }
        boolean hasNames = !(values instanceof Tuple) && !Types.isText(values)
                && (Types.elements(values) != null && !(values instanceof DictView) || values instanceof Undefined);
        if (formatting.used < formatting.several.size() && !hasNames) {
            throw new TemplateException("a format with % does not use all its values");
        }
        return formatting.text.toString();
    }

    private void append(String more) {
        Bounds.requireText((long) text.length() + more.length());
        text.append(more);
    }

    private char sign() {
        if (at == format.length()) {
            throw new TemplateException("a format with % ends within a field");
        }
        return format.charAt(at);
    }

    private Object next() {
        if (used >= several.size()) {
            throw new TemplateException("a format with % has more fields than values");
        }
        return several.get(used++);
    }

    private void field() {
        Object named = sign() == '(' ? named() : null;
        StringBuilder flags = new StringBuilder();
        while ("#0- +".indexOf(sign()) >= 0) {
            flags.append(format.charAt(at++));
        }
        int width = number();
        if (width < 0 && flags.indexOf("-") < 0) {
            flags.append('-');
        }
        int precision = -1;
        if (sign() == '.') {
            at++;
            precision = Math.max(0, number());
        }
        while ("hlL".indexOf(sign()) >= 0) {
            at++;
        }
        char type = sign();
        at++;
        if (type == '%') {
            append("%");
            return;
        }
        Field field = new Field(type, flags.toString(), Math.abs(width), precision);
        append(field.text(named == null ? next() : named));
    }

    private Object named() {
        int depth = 1;
        int begin = ++at;
        while (depth > 0) {
            depth += sign() == '(' ? 1 : sign() == ')' ? -1 : 0;
            at++;
        }
        if (!(values instanceof Dict dict)) {
            throw new TemplateException("a format with %(name) needs a dict");
        }
        Object value = dict.get(format.substring(begin, at - 1));
        if (value == null) {
            throw new TemplateException("a format with %(name) has a name that the dict has not");
        }
        return value;
    }

    private int number() {
        if (sign() == '*') {
            at++;
            return Bounds.requireText(Math.abs((long) Numbers.clamped(Types.index(next()))));
        }
        int begin = at;
        while (Character.isDigit(sign()) && sign() < 0x80) {
            at++;
        }
        String digits = format.substring(begin, at);
        if (digits.length() > 9) {
            throw new TemplateException("a format with % has too large a width");
        }
        return digits.isEmpty() ? 0 : Bounds.requireText(Integer.parseInt(digits));
    }

    private record Field(char type, String flags, int width, int precision) {
        boolean has(String flag) {
            return flags.contains(flag);
        }

        String text(Object value) {
            return switch (type) {
                case 's' -> padded("", "", cut(Printing.printed(value)));
                case 'r' -> padded("", "", cut(Printing.written(value)));
                case 'a' -> padded("", "", cut(Printing.ascii(value)));
                case 'c' -> padded("", "", letter(value));
                case 'd', 'i', 'u', 'o', 'x', 'X' -> whole(value);
                case 'e', 'E', 'f', 'F', 'g', 'G' -> floating(value);
                default -> throw new TemplateException("a format with % has no field of the kind \"" + type + "\"");
            };
        }

        private String cut(String text) {
            return precision < 0 ? text : AttributeLookup.part(text, None.NONE, BigInteger.valueOf(precision));
        }

        private static String letter(Object value) {
            if (value instanceof String text && text.codePointCount(0, text.length()) == 1) {
                return text;
            }
            int code = value instanceof String ? -1 : Numbers.clamped(Types.index(value));
            if (!Character.isValidCodePoint(code)) {
                throw new TemplateException("%c needs a character or its number");
            }
            return Character.toString(code);
        }

        private String whole(Object value) {
            boolean isDecimal = "diu".indexOf(type) >= 0;
            BigInteger number = value instanceof Double && isDecimal
                    ? Numbers.truncated((Double) value)
                    : Types.index(value);
            int radix = isDecimal ? 10 : type == 'o' ? 8 : 16;
            String digits = isDecimal ? Numbers.printed(number.abs()) : number.abs().toString(radix);
            String filled = "0".repeat(Math.max(0, precision - digits.length())) + digits;
            String prefix = has("#") && !isDecimal ? "0" + type : "";
            return padded(sign(number.signum() < 0), prefix, type == 'X' ? filled.toUpperCase(Locale.ROOT) : filled);
        }

        private String floating(Object value) {
            if (!Types.isNumber(value)) {
                throw new TemplateException("%" + type + " needs a number, found " + Types.described(value));
            }
            double number = Numbers.asFloat(value);
            boolean isNegative = number < 0 || number == 0 && 1 / number < 0;
            return padded(sign(isNegative), "",
                    new FloatFormat(type, precision < 0 ? 6 : precision, has("#"), false).text(Math.abs(number)));
        }

        private String sign(boolean isNegative) {
            return isNegative ? "-" : has("+") ? "+" : has(" ") ? " " : "";
        }

        private String padded(String sign, String prefix, String digits) {
            int missing = width - sign.length() - prefix.length() - digits.codePointCount(0, digits.length());
            String fill = missing > 0
                    ? (has("0") && !has("-") && "srac".indexOf(type) < 0 ? "0" : " ").repeat(missing)
                    : "";
            if (has("-")) {
                return sign + prefix + digits + fill;
            }
            return fill.startsWith("0") ? sign + prefix + fill + digits : fill + sign + prefix + digits;
        }
    }
}
