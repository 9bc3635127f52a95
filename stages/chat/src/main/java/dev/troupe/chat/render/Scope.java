package dev.troupe.chat.render;

import dev.troupe.chat.value.Undefined;
import java.util.HashMap;
import java.util.Map;

/** The variables of a part of a template while it runs, and those around it. */
final class Scope {
    private final Symbols symbols;
    private final Scope parent;
    private final Map<String, Object> chat;
    private final Map<String, Object> values = new HashMap<>();

    private Scope(Symbols symbols, Scope parent, Map<String, Object> chat) {
        this.symbols = symbols;
        this.parent = parent;
        this.chat = chat;
        symbols.sources().forEach((name, source) -> {
            switch (source) {
                case CHAT -> values.put(name, chat.get(name));
                case OUTSIDE -> values.put(name, parent.valueOrNull(name));
                case PARAMETER, NOWHERE -> {
                }
            }
        });
    }

    static Scope of(Symbols symbols, Map<String, Object> chat) {
        return new Scope(symbols, null, chat);
    }

    Scope inside(Symbols inner) {
        return new Scope(inner, this, chat);
    }

    void set(String name, Object value) {
        values.put(name, value);
    }

    /** Returns the value of a variable; {@code null} if it has none. */
    Object valueOrNull(String name) {
        for (Scope scope = this; scope != null; scope = scope.parent) {
            if (scope.symbols.has(name)) {
                return scope.values.get(name);
            }
        }
        return chat.get(name);
    }

    /** Returns the value of a variable; undefined if it has none. */
    Object value(String name) {
        Object value = valueOrNull(name);
        return value == null ? Undefined.variable(name) : value;
    }
}
