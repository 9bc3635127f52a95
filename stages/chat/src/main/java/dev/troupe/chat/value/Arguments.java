package dev.troupe.chat.value;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The arguments of a call.
 *
 * @param positional those without a name
 */
public record Arguments(List<Object> positional, Map<String, Object> named) {
    public static final Arguments NONE = new Arguments(List.of(), Map.of());

    /**
     * Returns the values of parameters; {@code null} if there is none.
     *
     * @param callee the name of the called value, for errors
     * @param required the number of parameters that need a value
     */
    public Bound bind(String callee, int required, String... parameters) {
        if (positional.size() > parameters.length) {
            throw new TemplateException(
                    callee + " takes " + (parameters.length == 0 ? "no" : "at most " + parameters.length)
                            + " arguments, found " + positional.size());
        }
        List<Object> values = new ArrayList<>(positional);
        Map<String, Object> left = new LinkedHashMap<>(named);
        for (int i = positional.size(); i < parameters.length; i++) {
            Object value = left.remove(parameters[i]);
            if (value == null && i < required) {
                throw new TemplateException(callee + " needs the argument \"" + parameters[i] + "\"");
            }
            values.add(value);
        }
        if (!left.isEmpty()) {
            throw new TemplateException(
                    callee + " takes no argument of the name \"" + left.keySet().iterator().next() + "\" here");
        }
        return new Bound(callee, values);
    }

    /** Returns the values of parameters that a method takes by their place alone, as most of Python's own do. */
    public Bound bindPlaces(String callee, int required, int most) {
        if (!named.isEmpty() || positional.size() < required || positional.size() > most) {
            throw new TemplateException(callee + " was called with a wrong number of arguments, or with names");
        }
        List<Object> values = new ArrayList<>(positional);
        while (values.size() < most) {
            values.add(null);
        }
        return new Bound(callee, values);
    }

    public Arguments without(int count) {
        return new Arguments(positional.subList(count, positional.size()), named);
    }

    /**
     * The values of parameters.
     *
     * @param callee the name of the called value, for errors
     * @param values the values; {@code null} if there is none
     */
    public record Bound(String callee, List<Object> values) {
        /** Returns a value, or another if there is none. */
        public Object at(int index, Object otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : value;
        }

        /** Returns whether a value is true, or another flag if there is none. */
        public boolean isTrue(int index, boolean otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : Types.isTrue(value);
        }

        /** Returns a flag that Python takes as a whole number, 0 or another; refused if the value is none. */
        public boolean flag(int index, boolean otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : Types.index(value).signum() != 0;
        }

        /** Returns whether there is a value that is not None. */
        public boolean has(int index) {
            Object value = values.get(index);
            return value != null && value != None.NONE;
        }

        /** Returns a text; refused if the value is none. */
        public String text(int index, String otherwise) {
            return switch (values.get(index)) {
                case null -> otherwise;
                case String text -> text;
                case Markup markup -> markup.text();
                case Undefined undefined -> throw undefined.failure();
                default ->
                    throw new TemplateException(callee + " needs a text, found " + Types.described(values.get(index)));
            };
        }

        /** Returns a whole number; refused if the value is none. */
        public BigInteger integer(int index, BigInteger otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : Types.index(value);
        }

        /** Returns a whole number within the limits of Java's arrays. */
        public int size(int index, int otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : Numbers.clamped(Types.index(value));
        }
    }
}
