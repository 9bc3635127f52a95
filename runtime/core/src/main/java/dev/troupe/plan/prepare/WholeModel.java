package dev.troupe.plan.prepare;

import dev.troupe.config.RunSpec;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.structural.SizingEngine;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.memory.MachineMemory;
import dev.troupe.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * A model with its weights, tokenizer and engine. Schedule and grid of the configuration are not used.
 *
 * @param start the weights, closed with this
 */
public record WholeModel(EngineChoice choice, Tokenizer tokenizer, StartingPoint start) implements AutoCloseable {
    /**
     * Opens and checks all parts, for one engine of this process.
     *
     * @param from the run or checkpoint that has the weights; empty: the weights with which a run of the configuration
     *     begins
     */
    public static WholeModel of(RunSpec spec, Optional<Path> from) {
        requireResumable(from);
        List<EngineProvider> installed = EngineChoice.installed();
        EngineChoice choice = EngineChoice.of(spec.engine(), spec.training().precision(), List.of(0), installed)
                .withProducts(spec.engine().products(), true, installed);
        if (!choice.computes()) {
            throw new UsageException("the engine " + choice.provider().kind()
                    + " computes nothing: choose another engine.kind");
        }
        return of(spec, from, choice);
    }

    static WholeModel of(RunSpec spec, Optional<Path> from, EngineChoice choice) {
        Tokenizer tokenizer = Tokenizer.named(spec.data().tokenizer(), spec.data().specialTokens());
        WholeModel model = new WholeModel(choice, tokenizer, StartingPoint.of(spec, tokenizer, from));
        try {
            SizeChecks.requireModel(model.start.model());
            return model;
        } catch (RuntimeException refused) {
            model.close();
            throw refused;
        }
    }

    static void requireResumable(Optional<Path> from) {
        from.filter(path -> !Checkpoint.isAt(path)).ifPresent(RunDirectory::requireResumable);
    }

    /**
     * Refuses work that takes more memory than is free.
     *
     * @param work does it on an engine that computes nothing, and returns the allocated bytes
     */
    public void requireRoom(ToLongFunction<Engine> work) {
        try (Engine real = choice.open(); Engine sizes = SizingEngine.like(real)) {
            long taken = work.applyAsLong(sizes);
            long available = MachineMemory.availableBytes();
            if (taken > available) {
                throw new UsageException(String.format(Locale.ROOT, "the model and one sequence take %,d MiB, but this"
                        + " machine has %,d MiB free: take fewer tokens at a time, or end what takes memory",
                        taken >> 20,
                        available >> 20));
            }
        }
    }

    @Override
    public void close() {
        start.close();
    }
}
