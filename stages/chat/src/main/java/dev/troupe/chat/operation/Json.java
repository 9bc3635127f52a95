package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.Markup;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.Numbers;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * Python's {@code json.dumps}.
 *
 * @param isAscii whether characters that are not ASCII are escaped
 * @param indent the indent of each level; {@code null} for one line
 * @param itemSeparator the text between elements
 * @param keySeparator the text between a key and its value
 */
public record Json(boolean isAscii, String indent, String itemSeparator, String keySeparator, boolean sorts) {
    public String text(Object value) {
        StringBuilder text = new StringBuilder();
        write(text, value, 0);
        return text.toString();
    }

    private static void append(StringBuilder text, String more) {
        Bounds.requireText((long) text.length() + more.length());
        text.append(more);
    }

    private void write(StringBuilder text, Object value, int depth) {
        switch (value) {
            case None _ -> append(text, "null");
            case Boolean truth -> append(text, truth.toString());
            case BigInteger number -> append(text, Numbers.printed(number));
            case Double number -> append(text, floating(number));
            case String string -> append(text, quoted(string));
            case Markup markup -> append(text, quoted(markup.text()));
            case List<?> list -> array(text, list, depth);
            case Tuple tuple -> array(text, tuple.items(), depth);
            case Dict dict -> object(text, dict, depth);
            default -> throw new TemplateException(Types.described(value) + " has no JSON");
        }
    }

    private static String floating(double number) {
        return Double.isNaN(number)
                ? "NaN"
                : Double.isInfinite(number) ? number > 0 ? "Infinity" : "-Infinity" : Numbers.printed(number);
    }

    private void newLine(StringBuilder text, int depth) {
        if (indent != null) {
            Bounds.requireText((long) text.length() + (long) indent.length() * depth);
            text.append('\n').repeat(indent, depth);
        }
    }

    private void array(StringBuilder text, List<?> list, int depth) {
        if (list.isEmpty()) {
            append(text, "[]");
            return;
        }
        int deeper = Bounds.deeper(depth);
        append(text, "[");
        for (int i = 0; i < list.size(); i++) {
            append(text, i == 0 ? "" : itemSeparator);
            newLine(text, deeper);
            write(text, list.get(i), deeper);
        }
        newLine(text, depth);
        append(text, "]");
    }

    private void object(StringBuilder text, Dict dict, int depth) {
        if (dict.size() == 0) {
            append(text, "{}");
            return;
        }
        int deeper = Bounds.deeper(depth);
        append(text, "{");
        List<Object> keys = new ArrayList<>(dict.keys());
        if (sorts) {
            keys.sort(ValueComparison::compare);
        }
        for (int i = 0; i < keys.size(); i++) {
            append(text, i == 0 ? "" : itemSeparator);
            newLine(text, deeper);
            append(text, quoted(key(keys.get(i))));
            append(text, keySeparator);
            write(text, dict.get(keys.get(i)), deeper);
        }
        newLine(text, depth);
        append(text, "}");
    }

    private static String key(Object key) {
        return switch (key) {
            case String text -> text;
            case Markup markup -> markup.text();
            case None _ -> "null";
            case Boolean truth -> truth.toString();
            case BigInteger number -> Numbers.printed(number);
            case Double number -> floating(number);
            default -> throw new TemplateException(Types.described(key) + " cannot be a key in JSON");
        };
    }

    private String quoted(String string) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < string.length(); i++) {
            char letter = string.charAt(i);
            switch (letter) {
                case '"' -> quoted.append("\\\"");
                case '\\' -> quoted.append("\\\\");
                case '\n' -> quoted.append("\\n");
                case '\r' -> quoted.append("\\r");
                case '\t' -> quoted.append("\\t");
                case '\f' -> quoted.append("\\f");
                case '\b' -> quoted.append("\\b");
                default -> {
                    if (letter < ' ' || isAscii && letter > '~') {
                        String digits = Integer.toHexString(letter);
                        quoted.append("\\u").repeat("0", 4 - digits.length()).append(digits);
                    } else {
                        quoted.append(letter);
                    }
                }
            }
        }
        return quoted.append('"').toString();
    }
}
