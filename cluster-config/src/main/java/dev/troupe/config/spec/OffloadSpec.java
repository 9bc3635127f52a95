package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The state that ranks keep outside memory: the section {@code offload} of the defaults.
 *
 * @param activations the place of the inputs of blocks that full recomputation keeps
 * @param given the directory of the files; empty for the directory of the run
 */
public record OffloadSpec(Place optimizer, Place activations, Optional<Path> given) {
    private static final String OPTIMIZER = "offload.optimizer";
    private static final String ACTIVATIONS = "offload.activations";

    public OffloadSpec {
        Objects.requireNonNull(optimizer, "optimizer");
        Objects.requireNonNull(activations, "activations");
        Objects.requireNonNull(given, "given");
    }

    static OffloadSpec read(Values values, MemorySpec.Recompute recompute) {
        Place activations = values.word(ACTIVATIONS, Place.class, "");
        if (activations == Place.DISK && recompute != MemorySpec.Recompute.FULL
                && values.sound(ACTIVATIONS, "training.recompute")) {
            values.report(ACTIVATIONS, "none with training.recompute = " + recompute.word(), "disk",
                    "set training.recompute to full, or take this key away");
        }
        return new OffloadSpec(values.word(OPTIMIZER, Place.class, ""), activations,
                Optional.ofNullable(values.path("offload.directory", Set.of(""))));
    }

    /** Returns the first key that keeps state in files. */
    public Optional<String> keyOfFiles() {
        if (optimizer == Place.DISK) {
            return Optional.of(OPTIMIZER);
        }
        return activations == Place.DISK ? Optional.of(ACTIVATIONS) : Optional.empty();
    }

    /** Returns the directory of the files of a run in a directory. */
    public Path directory(Path run) {
        return given.orElse(run);
    }

    /** The place of state. */
    public enum Place implements Word {
        /** The memory of the engine. */
        NONE("none"),
        /** Files. */
        DISK("disk");

        private final String word;

        Place(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
