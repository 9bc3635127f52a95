package dev.troupe.chat.operation;

import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.TemplateException;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Python's {@code str.format}, with attributes looked up by the rules of the sandbox. */
final class BraceFormat {
    private final String format;
    private final Arguments arguments;
    private int at;
    /** The index of the next field without a name; -1 after one with a number. */
    private int next;
    private boolean countsItself = true;

    private BraceFormat(String format, Arguments arguments) {
        this.format = format;
        this.arguments = arguments;
    }

    static String formatted(String format, String method, Arguments arguments) {
        Arguments values = arguments;
        if (method.equals("format_map")) {
            Dict dict = arguments.bindPlaces(method, 1, 1).values().getFirst() instanceof Dict map ? map : null;
            if (dict == null) {
                throw new TemplateException("format_map needs a dict");
            }
            Map<String, Object> named = new LinkedHashMap<>();
            dict.keys().stream().filter(String.class::isInstance)
                    .forEach(key -> named.put((String) key, dict.get(key)));
            values = new Arguments(List.of(), named);
        }
        return new BraceFormat(format, values).text(0);
    }

    private String text(int depth) {
        if (depth > 2) {
            throw new TemplateException("a format has fields nested too deeply");
        }
        StringBuilder text = new StringBuilder();
        while (at < format.length()) {
            char sign = format.charAt(at++);
            if (sign != '{' && sign != '}') {
                text.append(sign);
            } else if (at < format.length() && format.charAt(at) == sign) {
                text.append(sign);
                at++;
            } else if (sign == '}') {
                throw new TemplateException("a format has a } without a {");
            } else {
                String field = field();
                Bounds.requireText((long) text.length() + field.length());
                text.append(field);
            }
        }
        return text.toString();
    }

    private String field() {
        int begin = at;
        int brackets = 0;
        while (at < format.length() && (brackets > 0 || ":!}{".indexOf(format.charAt(at)) < 0)) {
            brackets += format.charAt(at) == '[' ? 1 : format.charAt(at) == ']' ? -1 : 0;
            at++;
        }
        String name = format.substring(begin, at);
        String conversion = "";
        if (isAt('!')) {
            conversion = format.substring(Math.min(at + 1, format.length()), Math.min(at + 2, format.length()));
            at += 2;
            if (!isAt(':') && !isAt('}')) {
                throw new TemplateException("a format has a field that does not end after its conversion");
            }
        }
        String spec = isAt(':') ? spec() : "";
        if (!isAt('}')) {
            throw new TemplateException("a format has a field without an end");
        }
        at++;
        return FormatSpec.formatted(converted(value(name), conversion), expanded(spec));
    }

    private boolean isAt(char sign) {
        return at < format.length() && format.charAt(at) == sign;
    }

    private String spec() {
        int begin = ++at;
        int depth = 0;
        while (at < format.length() && (depth > 0 || format.charAt(at) != '}')) {
            depth += format.charAt(at) == '{' ? 1 : format.charAt(at) == '}' ? -1 : 0;
            at++;
        }
        return format.substring(begin, at);
    }

    /** Expands the fields inside the format of a field. */
    private String expanded(String spec) {
        if (spec.indexOf('{') < 0 && spec.indexOf('}') < 0) {
            return spec;
        }
        BraceFormat inner = new BraceFormat(spec, arguments);
        inner.next = next;
        inner.countsItself = countsItself;
        String text = inner.text(2);
        next = inner.next;
        countsItself = inner.countsItself;
        return text;
    }

    private static Object converted(Object value, String conversion) {
        return switch (conversion) {
            case "" -> value;
            case "s" -> Printing.printed(value);
            case "r" -> Printing.written(value);
            case "a" -> Printing.ascii(value);
            default ->
                throw new TemplateException("a format has the conversion \"" + conversion + "\", which is not known");
        };
    }

    private Object value(String name) {
        int end = 0;
        while (end < name.length() && name.charAt(end) != '.' && name.charAt(end) != '[') {
            end++;
        }
        Object value = first(name.substring(0, end));
        while (end < name.length()) {
            if (name.charAt(end) == '.') {
                int begin = ++end;
                while (end < name.length() && name.charAt(end) != '.' && name.charAt(end) != '[') {
                    end++;
                }
                value = AttributeLookup.attribute(value, name.substring(begin, end));
            } else {
                int close = name.indexOf(']', end);
                if (close < end + 2) {
                    throw new TemplateException("a format has a field with an empty or open bracket");
                }
                String index = name.substring(end + 1, close);
                value = AttributeLookup.item(value, isNumber(index) ? new BigInteger(index) : index);
                end = close + 1;
                if (end < name.length() && name.charAt(end) != '.' && name.charAt(end) != '[') {
                    throw new TemplateException("a format has a field with a name after a bracket");
                }
            }
        }
        return value;
    }

    private static boolean isNumber(String text) {
        return !text.isEmpty() && text.length() < 10 && text.chars().allMatch(sign -> sign >= '0' && sign <= '9');
    }

    private Object first(String name) {
        Object value;
        if (name.isEmpty() || isNumber(name)) {
            if (name.isEmpty() ? !countsItself : countsItself && next > 0) {
                throw new TemplateException("a format numbers some fields and not others");
            }
            countsItself = name.isEmpty();
            int index = name.isEmpty() ? next++ : Integer.parseInt(name);
            value = index < arguments.positional().size() ? arguments.positional().get(index) : null;
        } else {
            value = arguments.named().get(name);
        }
        if (value == null) {
            throw new TemplateException("a format has a field without a value");
        }
        return value;
    }
}
