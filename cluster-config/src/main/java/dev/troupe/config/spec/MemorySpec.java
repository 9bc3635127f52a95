package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Values;
import java.util.Objects;

/** The state that a rank divides with others, computes again or keeps in files, to save memory. */
public record MemorySpec(int zero, Recompute recompute, ReplaySpec replay, OffloadSpec offload) {
    private static final int MOST_ZERO = 3;

    public MemorySpec {
        Objects.requireNonNull(recompute, "recompute");
        Objects.requireNonNull(replay, "replay");
        Objects.requireNonNull(offload, "offload");
    }

    static MemorySpec read(Values values) {
        Recompute recompute = values.word("training.recompute", Recompute.class, "");
        return new MemorySpec(values.integer("training.zero", 0, MOST_ZERO), recompute,
                ReplaySpec.read(values, recompute), OffloadSpec.read(values, recompute));
    }

    /** The activations that the backward computes again. */
    public enum Recompute implements Word {
        /** All activations are kept. */
        NONE("none"),
        /** Large and cheap activations are computed again. */
        SELECTIVE("selective"),
        /** Only the input of each block is kept. */
        FULL("full");

        private final String word;

        Recompute(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
