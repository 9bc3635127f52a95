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
 * @param given the directory of the files; empty for the directory of the run
 */
public record OffloadSpec(Place optimizer, Optional<Path> given) {
    public OffloadSpec {
        Objects.requireNonNull(optimizer, "optimizer");
        Objects.requireNonNull(given, "given");
    }

    static OffloadSpec read(Values values) {
        return new OffloadSpec(values.word("offload.optimizer", Place.class, ""),
                Optional.ofNullable(values.path("offload.directory", Set.of(""))));
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
