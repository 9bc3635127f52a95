package dev.troupe.chat.value;

import java.util.List;

/** The keys, values or items of a dict, as its methods return them. */
public record DictView(Dict dict, Kind kind) {
    public enum Kind {
        KEYS, VALUES,
        /** Tuples of a key and its value. */
        ITEMS
    }

    public List<Object> elements() {
        return switch (kind) {
            case KEYS -> dict.keys();
            case VALUES -> dict.values();
            case ITEMS -> dict.items();
        };
    }
}
