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
 * @param named those with a name
 */
public record Arguments(List<Object> positional, Map<String, Object> named) {
    /** No arguments. */
    public static final Arguments NONE = new Arguments(List.of(), Map.of());

    /**
     * The values of parameters; {@code null} if there is none.
     *
     * @param callee the name of what is called, for errors
     * @param required how many of the parameters need a value
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

    /** The values of parameters that a method takes by their place alone, as most of Python's own do. */
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

    /** These arguments after one more. */
    public Arguments after(Object first) {
        List<Object> all = new ArrayList<>(List.of(first));
        all.addAll(positional);
        return new Arguments(all, named);
    }

    /** These arguments without the first ones. */
    public Arguments without(int count) {
        return new Arguments(positional.subList(count, positional.size()), named);
    }

    /**
     * The values of parameters.
     *
     * @param callee the name of what is called, for errors
     * @param values the values; {@code null} if there is none
     */
    public record Bound(String callee, List<Object> values) {
        /** A value, or another if there is none. */
        public Object at(int index, Object otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : value;
        }

        /** Whether a value is true; without one another. */
        public boolean isTrue(int index, boolean otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : Types.isTrue(value);
        }

        /** Whether there is a value that is not None. */
        public boolean has(int index) {
            Object value = values.get(index);
            return value != null && value != None.NONE;
        }

        /** A text; refused if it is none. */
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

        /** A whole number; refused if it is none. */
        public BigInteger integer(int index, BigInteger otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : Types.index(value);
        }

        /** A whole number, at most and at least what Java's arrays can have. */
        public int size(int index, int otherwise) {
            Object value = values.get(index);
            return value == null ? otherwise : Numbers.clamped(Types.index(value));
        }
    }
}
