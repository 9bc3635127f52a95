package dev.troupe.chat.value;

import java.util.List;

/**
 * Python's tuple.
 *
 * @param isGroup whether the filter {@code groupby} made it, so that its elements have the names {@code grouper} and
 *     {@code list} too
 */
public record Tuple(List<Object> items, boolean isGroup) {
    public static Tuple of(Object... items) {
        return new Tuple(List.of(items), false);
    }

    /** Creates a tuple of a list, which must not change afterwards. */
    public static Tuple of(List<Object> items) {
        return new Tuple(items, false);
    }
}
