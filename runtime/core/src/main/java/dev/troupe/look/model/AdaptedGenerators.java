package dev.troupe.look.model;

import dev.troupe.generate.Generator;
import dev.troupe.weights.peft.PeftAdapter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The generator of a model, and one for each of its adapters by name, which have the same weights in memory.
 *
 * <p>Thread rule: as for the engine.
 */
final class AdaptedGenerators implements AutoCloseable {
    private final Generator base;
    private final Map<String, Generator> adapted = new LinkedHashMap<>();

    /**
     * Reads the adapters.
     *
     * @param base closed with this
     */
    AdaptedGenerators(Generator base, Map<String, PeftAdapter> adapters) {
        this.base = base;
        try {
            adapters.forEach((name, adapter) -> adapted.put(name, base.withAdapters(adapter.model(), adapter)));
        } catch (RuntimeException refused) {
            close();
            throw refused;
        }
    }

    /** Returns the generator of the model without an adapter. */
    Generator base() {
        return base;
    }

    /** Returns the generators with adapters. */
    Iterable<Generator> adapted() {
        return adapted.values();
    }

    /** Returns the generator for requests to an adapter, or to the model without one. */
    Generator of(Optional<String> adapter) {
        if (adapter.isEmpty()) {
            return base;
        }
        Generator named = adapted.get(adapter.get());
        if (named == null) {
            throw new IllegalArgumentException("there is no adapter " + adapter.get());
        }
        return named;
    }

    @Override
    public void close() {
        adapted.values().forEach(Generator::close);
        base.close();
    }
}
