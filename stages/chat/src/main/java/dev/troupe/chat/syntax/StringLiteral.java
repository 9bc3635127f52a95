package dev.troupe.chat.syntax;

import dev.troupe.chat.value.TemplateException;
import java.util.HexFormat;

/**
 * The text of a string in a template, which Jinja reads by Python's codec {@code unicode-escape} from its ASCII form: an
 * escape that Python does not know stays as it is.
 */
final class StringLiteral {
    private final String ascii;
    private final StringBuilder text = new StringBuilder();
    private int at;

    private StringLiteral(String ascii) {
        this.ascii = ascii;
    }

    static String unescaped(String source) {
        if (source.indexOf('\\') < 0) {
            return source;
        }
        StringLiteral literal = new StringLiteral(ascii(source));
        while (literal.at < literal.ascii.length()) {
            literal.next();
        }
        return literal.text.toString();
    }

    private static String ascii(String source) {
        StringBuilder ascii = new StringBuilder();
        source.codePoints().forEach(code -> {
            if (code < 0x80) {
                ascii.append((char) code);
            } else {
                int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
                ascii.append('\\').append(digits == 2 ? 'x' : digits == 4 ? 'u' : 'U')
                        .append(HexFormat.of().toHexDigits(code, digits));
            }
        });
        return ascii.toString();
    }

    private void next() {
        char sign = ascii.charAt(at++);
        if (sign != '\\') {
            text.append(sign);
            return;
        }
        if (at == ascii.length()) {
            throw new TemplateException("a string ends with a single backslash");
        }
        char escape = ascii.charAt(at++);
        switch (escape) {
            case '\n' -> {
            }
            case '\\', '\'', '"' -> text.append(escape);
            case 'a' -> text.append('\u0007');
            case 'b' -> text.append('\b');
            case 'f' -> text.append('\f');
            case 'n' -> text.append('\n');
            case 'r' -> text.append('\r');
            case 't' -> text.append('\t');
            case 'v' -> text.append('\u000b');
            case 'x' -> hexadecimal(2);
            case 'u' -> hexadecimal(4);
            case 'U' -> hexadecimal(8);
            case 'N' -> named();
            case '0', '1', '2', '3', '4', '5', '6', '7' -> octal();
            default -> text.append('\\').append(escape);
        }
    }

    private void hexadecimal(int digits) {
        int code = 0;
        for (int i = 0; i < digits; i++) {
            int digit = at < ascii.length() ? Character.digit(ascii.charAt(at++), 16) : -1;
            if (digit < 0) {
                throw new TemplateException("a string has an escape with too few hexadecimal digits");
            }
            code = code << 4 | digit;
        }
        if (!Character.isValidCodePoint(code)) {
            throw new TemplateException("a string has the escape of a character that Unicode does not have");
        }
        text.appendCodePoint(code);
    }

    private void octal() {
        int code = 0;
        at--;
        for (int i = 0; i < 3 && at < ascii.length() && Character.digit(ascii.charAt(at), 8) >= 0; i++) {
            code = code << 3 | Character.digit(ascii.charAt(at++), 8);
        }
        text.append((char) code);
    }

    private void named() {
        int end = ascii.indexOf('}', at);
        if (at == ascii.length() || ascii.charAt(at) != '{' || end < 0) {
            throw new TemplateException("a string has \\N without a name in braces");
        }
        try {
            text.appendCodePoint(Character.codePointOf(ascii.substring(at + 1, end)));
        } catch (IllegalArgumentException unknown) {
            throw new TemplateException("a string has \\N with a name that Unicode does not have");
        }
        at = end + 1;
    }
}
