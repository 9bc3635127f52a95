package dev.troupe.chat.render;

import dev.troupe.chat.value.Bounds;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The names of a part of a template with variables of its own, and the source of the first value of each: Jinja determines
 * these before it runs a template, so that a variable that is set anywhere in a part belongs to the whole part.
 */
final class Symbols {
    /** The source of a variable's first value. */
    enum Source {
        /** The part sets it itself before anything else: a parameter, or the variable of a loop. */
        PARAMETER,
        /** The variables of the chat, and the functions. */
        CHAT,
        /** The variable of the same name outside. */
        OUTSIDE,
        /** Nowhere: it is undefined until it is set. */
        NOWHERE
    }

    private final Symbols parent;
    private final Map<String, Source> sources;
    private final Set<String> stored;

    Symbols(Symbols parent) {
        this(parent, new HashMap<>(), new HashSet<>());
    }

    private Symbols(Symbols parent, Map<String, Source> sources, Set<String> stored) {
        this.parent = parent;
        this.sources = sources;
        this.stored = stored;
    }

    Map<String, Source> sources() {
        return sources;
    }

    boolean has(String name) {
        return sources.containsKey(name);
    }

    private boolean isKnown(String name) {
        return has(name) || isKnownOutside(name);
    }

    private boolean isKnownOutside(String name) {
        return parent != null && parent.isKnown(name);
    }

    void parameter(String name) {
        stored.add(name);
        sources.put(name, Source.PARAMETER);
    }

    void store(String name) {
        stored.add(name);
        sources.putIfAbsent(name, isKnownOutside(name) ? Source.OUTSIDE : Source.NOWHERE);
    }

    void load(String name) {
        if (!isKnown(name)) {
            sources.put(name, Source.CHAT);
        }
    }

    /** Returns the names so far, to which a branch adds its own. */
    Symbols branch() {
        Bounds.checkTime();
        return new Symbols(parent, new HashMap<>(sources), new HashSet<>(stored));
    }

    /** Takes the names that branches have added: a name that one of them sets has the outer value in the others. */
    void merge(Iterable<Symbols> branches) {
        Set<String> added = new HashSet<>();
        branches.forEach(branch -> added.addAll(branch.stored));
        added.removeAll(stored);
        for (Symbols branch : branches) {
            sources.putAll(branch.sources);
            stored.addAll(branch.stored);
        }
        added.forEach(name -> sources.put(name, isKnownOutside(name) ? Source.OUTSIDE : Source.CHAT));
    }
}
