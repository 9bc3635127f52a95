package dev.troupe.model.spec;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The numbers, flags and names that make a model of a family, by their keys in {@code troupe.model} and in a checkpoint's
 * manifest. Immutable; whole numbers are {@link Long}, others {@link Double}, flags {@link Boolean}, names {@link String}.
 */
public record Section(Map<String, Object> values) {
    public Section {
        Map<String, Object> sorted = new TreeMap<>();
        values.forEach((key, value) -> sorted.put(key, switch (value) {
            case Integer number -> number.longValue();
            case Long number -> number;
            case Double number when Double.isFinite(number) -> number;
            case Boolean flag -> flag;
            case String name -> name;
            case null, default -> throw new IllegalArgumentException(
                    key + " of a model must be a number, true or false, or a name, but found " + value);
        }));
        values = Collections.unmodifiableMap(sorted);
    }

    public boolean has(String key) {
        return values.containsKey(key);
    }

    /**
     * Refuses keys that do not apply to a model.
     *
     * @throws IllegalArgumentException if there is a key that is none of these
     */
    public void requireOnly(Set<String> keys, String title) {
        for (String key : values.keySet()) {
            if (!keys.contains(key)) {
                throw new IllegalArgumentException("model." + key + " does not apply to a " + title
                        + " model: leave it out, or choose another model.family");
            }
        }
    }

    /**
     * Returns a whole number of at least 1.
     *
     * @throws IllegalArgumentException if there is none under this key
     */
    public int positive(String key) {
        if (values.get(key) instanceof Long number && number >= 1 && number <= Integer.MAX_VALUE) {
            return number.intValue();
        }
        throw refusal(key, "a whole number of at least 1");
    }

    /** As {@link #positive}, for a whole number of at least 0. */
    public int notNegative(String key) {
        if (values.get(key) instanceof Long number && number >= 0 && number <= Integer.MAX_VALUE) {
            return number.intValue();
        }
        throw refusal(key, "a whole number of at least 0");
    }

    /** As {@link #positive}, for true or false. */
    public boolean flag(String key) {
        if (values.get(key) instanceof Boolean flag) {
            return flag;
        }
        throw refusal(key, "true or false");
    }

    /** As {@link #positive}, for a name or several. */
    public String text(String key) {
        if (values.get(key) instanceof String text) {
            return text;
        }
        throw refusal(key, "a name");
    }

    /** As {@link #positive}, for a number; {@code absent} if the section has no such key. */
    public double number(String key, double absent) {
        return switch (values.getOrDefault(key, absent)) {
            case Double number -> number;
            case Long number -> number;
            default -> throw refusal(key, "a number");
        };
    }

    private IllegalArgumentException refusal(String key, String expected) {
        return new IllegalArgumentException("model." + key + " must be " + expected + ", but "
                + (values.containsKey(key) ? "found " + values.get(key) : "is missing"));
    }
}
