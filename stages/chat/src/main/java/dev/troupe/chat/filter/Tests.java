package dev.troupe.chat.filter;

import dev.troupe.chat.operation.Arithmetic;
import dev.troupe.chat.operation.Iteration;
import dev.troupe.chat.operation.Printing;
import dev.troupe.chat.operation.ValueComparison;
import dev.troupe.chat.value.Arguments;
import dev.troupe.chat.value.Callable;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.DictView;
import dev.troupe.chat.value.Letters;
import dev.troupe.chat.value.Markup;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.OneShot;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/** The tests of Jinja by their names. */
public final class Tests {
    private static final Map<String, Predicate<Object>> ALONE = alone();
    private static final Map<String, BiPredicate<Object, Object>> WITH_ANOTHER = withAnother();

    private Tests() {
    }

    private static Map<String, Predicate<Object>> alone() {
        Map<String, Predicate<Object>> tests = new HashMap<>();
        tests.put("defined", value -> !(value instanceof Undefined));
        tests.put("undefined", value -> value instanceof Undefined);
        tests.put("none", value -> value == None.NONE);
        tests.put("boolean", value -> value instanceof Boolean);
        tests.put("true", value -> value.equals(true));
        tests.put("false", value -> value.equals(false));
        tests.put("integer", value -> value instanceof BigInteger);
        tests.put("float", value -> value instanceof Double);
        tests.put("number", Types::isNumber);
        tests.put("string", Types::isText);
        tests.put("mapping", value -> value instanceof Dict);
        tests.put("sequence",
                value -> Iteration.isSized(value) && !(value instanceof DictView) && !(value instanceof Types.Sized));
        tests.put("iterable", value -> Iteration.isIterable(value) || value instanceof Types.Sized);
        tests.put("callable", value -> value instanceof Callable || value instanceof Undefined);
        tests.put("escaped", value -> value instanceof Markup);
        tests.put("lower", value -> Letters.isLower(Printing.printed(value)));
        tests.put("upper", value -> Letters.isUpper(Printing.printed(value)));
        tests.put("odd", value -> ValueComparison.isEqual(Arithmetic.of("%", value, BigInteger.TWO), BigInteger.ONE));
        tests.put("even", value -> ValueComparison.isEqual(Arithmetic.of("%", value, BigInteger.TWO), BigInteger.ZERO));
        tests.put("filter", value -> Filters.isOfJinja(name(value)));
        tests.put("test", value -> isKnown(name(value)));
        return tests;
    }

    private static Map<String, BiPredicate<Object, Object>> withAnother() {
        Map<String, BiPredicate<Object, Object>> tests = new HashMap<>();
        for (String name : new String[]{"==", "eq", "equalto"}) {
            tests.put(name, ValueComparison::isEqual);
        }
        for (String name : new String[]{"!=", "ne"}) {
            tests.put(name, (left, right) -> !ValueComparison.isEqual(left, right));
        }
        Map.of("<", "<", "lt", "<", "lessthan", "<", "<=", "<=", "le", "<=")
                .forEach((name, sign) -> ordered(tests, name, sign));
        Map.of(">", ">", "gt", ">", "greaterthan", ">", ">=", ">=", "ge", ">=")
                .forEach((name, sign) -> ordered(tests, name, sign));
        tests.put("in", (value, container) -> Iteration.contains(container, value));
        tests.put("sameas", Tests::isSame);
        tests.put("divisibleby",
                (value, number) -> ValueComparison.isEqual(Arithmetic.of("%", value, number), BigInteger.ZERO));
        return tests;
    }

    private static void ordered(Map<String, BiPredicate<Object, Object>> tests, String name, String sign) {
        tests.put(name, (left, right) -> ValueComparison.holds(sign, left, right));
    }

    /**
     * Returns whether two values are one object. For equal numbers and texts Python's answer depends on its memory, and is
     * refused.
     */
    private static boolean isSame(Object value, Object other) {
        boolean isUnsure = value != other && value.getClass() == other.getClass()
                && (Types.isText(value) || value instanceof BigInteger || value instanceof Double)
                && value.equals(other);
        if (isUnsure) {
            throw new TemplateException(
                    "sameas compares objects, and whether equal texts or numbers are one is chance; use ==");
        }
        return value == other || value instanceof Boolean && value.equals(other);
    }

    /** Returns a value as a name; a value that cannot be a key is refused, since Python looks names up in a dict. */
    private static String name(Object value) {
        Dict.hashed(value);
        return Types.isText(value) ? Printing.printed(value) : "";
    }

    public static boolean isKnown(String name) {
        return ALONE.containsKey(name) || WITH_ANOTHER.containsKey(name);
    }

    public static TemplateException unknown(String name) {
        return new TemplateException("the test \"" + Filters.shortened(name) + "\" is not known");
    }

    public static boolean holds(String name, Object value, Arguments arguments) {
        Predicate<Object> alone = ALONE.get(name);
        if (alone != null) {
            arguments.bind(name, 0);
            return alone.test(value);
        }
        BiPredicate<Object, Object> other = WITH_ANOTHER.get(name);
        if (other == null) {
            throw unknown(name);
        }
        String parameter = switch (name) {
            case "divisibleby" -> "num";
            case "sameas" -> "other";
            case "in" -> "seq";
            default -> "";
        };
        return other.test(value, arguments.bind(name, 1, parameter).values().getFirst());
    }
}
