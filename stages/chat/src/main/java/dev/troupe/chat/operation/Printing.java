package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.DictView;
import dev.troupe.chat.value.Letters;
import dev.troupe.chat.value.Markup;
import dev.troupe.chat.value.Namespace;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.Opaque;
import dev.troupe.chat.value.PythonRange;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.util.List;

/** Values in the forms of Python's {@code str} and {@code repr}. */
public final class Printing {
    private final StringBuilder text = new StringBuilder();

    private Printing() {
    }

    public static String printed(Object value) {
        return switch (value) {
            case String text -> text;
            case Markup markup -> markup.text();
            case Undefined _ -> "";
            default -> written(value);
        };
    }

    /** Returns a value in Python's notation: a text has quotes. */
    public static String written(Object value) {
        Printing printing = new Printing();
        printing.write(value, 0);
        return printing.text.toString();
    }

    private void append(String more) {
        Bounds.requireText((long) text.length() + more.length());
        text.append(more);
    }

    private void write(Object value, int depth) {
        switch (value) {
            case None _ -> append("None");
            case Boolean truth -> append(truth ? "True" : "False");
            case BigInteger number -> append(Numbers.printed(number));
            case Double number -> append(Numbers.printed(number));
            case String string -> append(quoted(string));
            case Markup markup -> append("Markup(" + quoted(markup.text()) + ")");
            case List<?> list -> write("[", list, "]", depth);
            case Tuple tuple -> write("(", tuple.items(), tuple.items().size() == 1 ? ",)" : ")", depth);
            case Dict dict -> write(dict, depth);
            case DictView view -> {
                append(Types.name(view) + "(");
                write("[", view.elements(), "])", depth);
            }
            case PythonRange range -> append("range(" + range.start() + ", " + range.stop()
                    + (range.step().equals(BigInteger.ONE) ? "" : ", " + range.step()) + ")");
            case Undefined _ -> append("Undefined");
            case Namespace namespace -> {
                append("<Namespace ");
                write(namespace.variables(), Bounds.deeper(depth));
                append(">");
            }
            case Opaque opaque when opaque.printed() != null -> append(opaque.printed());
            default -> throw new TemplateException(
                    "a function or an iterator has no text of its own; it would have an address");
        }
    }

    private void write(String begin, List<?> items, String end, int depth) {
        int deeper = Bounds.deeper(depth);
        append(begin);
        for (int i = 0; i < items.size(); i++) {
            append(i == 0 ? "" : ", ");
            write(items.get(i), deeper);
        }
        append(end);
    }

    private void write(Dict dict, int depth) {
        int deeper = Bounds.deeper(depth);
        append("{");
        boolean isFirst = true;
        for (Object item : dict.items()) {
            append(isFirst ? "" : ", ");
            isFirst = false;
            write(((Tuple) item).items().get(0), deeper);
            append(": ");
            write(((Tuple) item).items().get(1), deeper);
        }
        append("}");
    }

    private static String quoted(String string) {
        char quote = string.indexOf('\'') >= 0 && string.indexOf('"') < 0 ? '"' : '\'';
        StringBuilder quoted = new StringBuilder().append(quote);
        string.codePoints().forEach(code -> {
            switch (code) {
                case '\n' -> quoted.append("\\n");
                case '\r' -> quoted.append("\\r");
                case '\t' -> quoted.append("\\t");
                case '\\' -> quoted.append("\\\\");
                default -> {
                    if (code == quote) {
                        quoted.append('\\').append(quote);
                    } else if (Letters.isPrintable(code)) {
                        quoted.appendCodePoint(code);
                    } else {
                        quoted.append(escape(code));
                    }
                }
            }
        });
        return quoted.append(quote).toString();
    }

    private static String escape(int code) {
        return code < 0x100
                ? hexadecimal("\\x", 2, code)
                : code < 0x10000 ? hexadecimal("\\u", 4, code) : hexadecimal("\\U", 8, code);
    }

    private static String hexadecimal(String begin, int digits, int code) {
        String hexadecimal = Integer.toHexString(code);
        return begin + "0".repeat(digits - hexadecimal.length()) + hexadecimal;
    }

    /** As {@link #written}, with escapes for all characters that are not ASCII. */
    static String ascii(Object value) {
        StringBuilder ascii = new StringBuilder();
        written(value).codePoints().forEach(code -> {
            if (code < 0x80) {
                ascii.append((char) code);
            } else {
                ascii.append(escape(code));
            }
        });
        return ascii.toString();
    }
}
