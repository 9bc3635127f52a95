package dev.troupe.chat.operation;

import dev.troupe.chat.value.Bounds;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.DictView;
import dev.troupe.chat.value.Markup;
import dev.troupe.chat.value.PythonRange;
import dev.troupe.chat.value.TemplateException;
import dev.troupe.chat.value.Tuple;
import dev.troupe.chat.value.Types;
import dev.troupe.chat.value.Undefined;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;

/** Python's {@code ==}, {@code <} and similar operators. */
public final class ValueComparison {
    private ValueComparison() {
    }

    public static boolean isEqual(Object left, Object right) {
        return isEqual(left, right, 0);
    }

    /** Returns whether two values are the same or equal, by the rule of containers for their elements. */
    static boolean isSameOrEqual(Object left, Object right) {
        return isSame(left, right) || isEqual(left, right);
    }

    /** Returns whether two values are one object, for {@code is}; equal numbers and texts count as one. */
    public static boolean isSame(Object left, Object right) {
        return left == right
                || left.getClass() == right.getClass()
                        && (left instanceof Boolean || left instanceof BigInteger || left instanceof String)
                        && left.equals(right);
    }

    private static boolean isEqual(Object left, Object right, int depth) {
        if (Types.isNumber(left) && Types.isNumber(right)) {
            return numbers(left, right) == Ordering.SAME;
        }
        if (Types.isText(left) && Types.isText(right)) {
            return text(left).equals(text(right));
        }
        return switch (left) {
            case List<?> list -> right instanceof List<?> other && areEqual(list, other, Bounds.deeper(depth));
            case Tuple tuple ->
                right instanceof Tuple other && areEqual(tuple.items(), other.items(), Bounds.deeper(depth));
            case PythonRange range -> right instanceof PythonRange other && range.elements().equals(other.elements());
            case Dict dict -> right instanceof Dict other && areEqual(dict, other, Bounds.deeper(depth));
            case DictView _ when right instanceof DictView && left != right ->
                throw new TemplateException("views of dicts are not compared here; make lists of them");
            case Undefined _ -> right instanceof Undefined;
            default -> left == right;
        };
    }

    private static boolean areEqual(List<?> left, List<?> right, int depth) {
        if (left.size() != right.size()) {
            return false;
        }
        for (int i = 0; i < left.size(); i++) {
            if (left.get(i) != right.get(i) && !isEqual(left.get(i), right.get(i), depth)) {
                return false;
            }
        }
        return true;
    }

    private static boolean areEqual(Dict left, Dict right, int depth) {
        if (left.size() != right.size()) {
            return false;
        }
        for (Object key : left.keys()) {
            Object one = left.get(key);
            Object other = right.get(key);
            if (other == null || one != other && !isEqual(one, other, depth)) {
                return false;
            }
        }
        return true;
    }

    private static String text(Object value) {
        return value instanceof Markup markup ? markup.text() : (String) value;
    }

    private enum Ordering {
        LESS, SAME, MORE, NONE;

        static Ordering of(int sign) {
            return sign < 0 ? LESS : sign > 0 ? MORE : SAME;
        }
    }

    /**
     * Returns whether {@code left sign right} is true, for the signs of order.
     *
     * @throws TemplateException if Python has no order between the two
     */
    public static boolean holds(String sign, Object left, Object right) {
        Ordering order = order(left, right, 0);
        return switch (sign) {
            case "<" -> order == Ordering.LESS;
            case "<=" -> order == Ordering.LESS || order == Ordering.SAME;
            case ">" -> order == Ordering.MORE;
            case ">=" -> order == Ordering.MORE || order == Ordering.SAME;
            default -> throw new IllegalArgumentException(sign);
        };
    }

    /** Returns the order of two values for a sort. */
    public static int compare(Object left, Object right) {
        Bounds.checkTime();
        return switch (order(left, right, 0)) {
            case LESS -> -1;
            case MORE -> 1;
            case SAME -> 0;
            case NONE -> throw new TemplateException("not a number (nan) cannot be sorted");
        };
    }

    private static Ordering order(Object left, Object right, int depth) {
        if (Types.isNumber(left) && Types.isNumber(right)) {
            return numbers(left, right);
        }
        if (Types.isText(left) && Types.isText(right)) {
            return Ordering.of(texts(text(left), text(right)));
        }
        if (left instanceof List<?> list && right instanceof List<?> other) {
            return lists(list, other, Bounds.deeper(depth));
        }
        if (left instanceof Tuple tuple && right instanceof Tuple other) {
            return lists(tuple.items(), other.items(), Bounds.deeper(depth));
        }
        if (left instanceof Undefined undefined) {
            throw undefined.failure();
        }
        if (right instanceof Undefined undefined) {
            throw undefined.failure();
        }
        throw new TemplateException(
                "there is no order between " + Types.described(left) + " and " + Types.described(right));
    }

    private static Ordering lists(List<?> left, List<?> right, int depth) {
        for (int i = 0; i < Math.min(left.size(), right.size()); i++) {
            if (left.get(i) != right.get(i) && !isEqual(left.get(i), right.get(i), depth)) {
                return order(left.get(i), right.get(i), depth);
            }
        }
        return Ordering.of(Integer.compare(left.size(), right.size()));
    }

    /** Compares by code points, not by UTF-16 as Java does. */
    private static int texts(String left, String right) {
        int at = 0;
        while (at < left.length() && at < right.length() && left.charAt(at) == right.charAt(at)) {
            at++;
        }
        if (at == left.length() || at == right.length()) {
            return Integer.compare(left.length(), right.length());
        }
        boolean isInside = at > 0 && Character.isLowSurrogate(left.charAt(at))
                && Character.isHighSurrogate(left.charAt(at - 1));
        int place = isInside ? at - 1 : at;
        return Integer.compare(left.codePointAt(place), right.codePointAt(place));
    }

    private static Ordering numbers(Object left, Object right) {
        BigInteger whole = Types.integer(left);
        BigInteger otherWhole = Types.integer(right);
        if (whole != null && otherWhole != null) {
            return Ordering.of(whole.compareTo(otherWhole));
        }
        double one = whole != null ? 0 : (Double) left;
        double other = otherWhole != null ? 0 : (Double) right;
        if (Double.isNaN(one) || Double.isNaN(other)) {
            return Ordering.NONE;
        }
        if (Double.isInfinite(one) || Double.isInfinite(other)) {
            return Ordering.of(Double.compare(one, other));
        }
        BigDecimal exact = whole != null ? new BigDecimal(whole) : new BigDecimal(one);
        BigDecimal otherExact = otherWhole != null ? new BigDecimal(otherWhole) : new BigDecimal(other);
        return Ordering.of(exact.compareTo(otherExact));
    }
}
