package dev.troupe.chat.value;

import java.math.BigInteger;
import java.util.List;
import java.util.Locale;

/** The Python types of values. Numbers are {@link Boolean}, {@link BigInteger} and {@link Double}; texts {@link String}. */
public final class Types {
    private Types() {
    }

    public static String name(Object value) {
        return switch (value) {
            case None _ -> "NoneType";
            case Boolean _ -> "bool";
            case BigInteger _ -> "int";
            case Double _ -> "float";
            case String _ -> "str";
            case Markup _ -> "Markup";
            case List<?> _ -> "list";
            case Tuple _ -> "tuple";
            case Dict _ -> "dict";
            case DictView view -> "dict_" + view.kind().name().toLowerCase(Locale.ROOT);
            case PythonRange _ -> "range";
            case Undefined _ -> "Undefined";
            case Namespace _ -> "Namespace";
            case OneShot _ -> "iterator";
            default -> "function";
        };
    }

    /** Returns a value for an error: its type, and if it is short its text. */
    public static String described(Object value) {
        return value == None.NONE ? "None" : "a value of type " + name(value);
    }

    /** Returns whether Python's {@code if} takes a value as true. */
    public static boolean isTrue(Object value) {
        return switch (value) {
            case None _ -> false;
            case Boolean truth -> truth;
            case BigInteger number -> number.signum() != 0;
            case Double number -> number != 0;
            case String text -> !text.isEmpty();
            case Markup markup -> !markup.text().isEmpty();
            case List<?> list -> !list.isEmpty();
            case Tuple tuple -> !tuple.items().isEmpty();
            case Dict dict -> dict.size() > 0;
            case DictView view -> view.dict().size() > 0;
            case PythonRange range -> range.size() > 0;
            case Undefined _ -> false;
            case Sized sized -> sized.length() > 0;
            default -> true;
        };
    }

    /** A value with a length of its own, such as the state of a loop. */
    public interface Sized {
        int length();
    }

    public static boolean isText(Object value) {
        return value instanceof String || value instanceof Markup;
    }

    /** Returns whether a value is a number; truth values are. */
    public static boolean isNumber(Object value) {
        return value instanceof BigInteger || value instanceof Double || value instanceof Boolean;
    }

    /** Returns a value as a whole number, if it is one or a truth value; else {@code null}. */
    public static BigInteger integer(Object value) {
        return switch (value) {
            case BigInteger number -> number;
            case Boolean truth -> truth ? BigInteger.ONE : BigInteger.ZERO;
            default -> null;
        };
    }

    /** Returns a whole number; refused if the value is none. */
    public static BigInteger index(Object value) {
        BigInteger index = integer(value);
        if (index == null) {
            throw value instanceof Undefined undefined
                    ? undefined.failure()
                    : new TemplateException("expected a whole number, found " + described(value));
        }
        return index;
    }

    /** Returns the elements of a sequence of Python as a list; {@code null} if the value is none. */
    @SuppressWarnings("unchecked")
    public static List<Object> elements(Object value) {
        return switch (value) {
            case List<?> list -> (List<Object>) list;
            case Tuple tuple -> tuple.items();
            case PythonRange range -> range.elements();
            case DictView view -> view.elements();
            case Dict dict -> dict.keys();
            default -> null;
        };
    }
}
