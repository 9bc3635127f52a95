package dev.troupe.chat.value;

import java.util.List;

/**
 * The keys, values or items of a dict, as its methods return them.
 *
 * @param dict the dict
 * @param kind which of the three
 */
public record DictView(Dict dict, Kind kind) {
    /** What a view has. */
    public enum Kind {
        /** Keys. */
        KEYS,
        /** Values. */
        VALUES,
        /** Tuples of a key and its value. */
        ITEMS
    }

    /** Its elements, in the order of the dict. */
    public List<Object> elements() {
        return switch (kind) {
            case KEYS -> dict.keys();
            case VALUES -> dict.values();
            case ITEMS -> dict.items();
        };
    }
}
