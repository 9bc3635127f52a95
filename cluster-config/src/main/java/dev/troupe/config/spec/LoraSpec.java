package dev.troupe.config.spec;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * Low-rank adapters, which alone are trained where there are any.
 *
 * @param adapter absolute path of a directory with the adapters to begin with, which says rank, alpha and targets
 * @param rank the rank, where given
 * @param alpha what the adapters' output is multiplied by, over the rank, where given
 * @param targets names of the matrices that have an adapter; none: those that the adapter or the model's family says
 * @param dropout probability of an element of an adapter's input to drop out, from 0 to below 1
 */
public record LoraSpec(Optional<Path> adapter, OptionalInt rank, OptionalDouble alpha, List<String> targets,
        double dropout) {
    /** All parameters are trained. */
    public static final LoraSpec NONE = new LoraSpec(Optional.empty(), OptionalInt.empty(), OptionalDouble.empty(),
            List.of(), 0);

    /** Refuses a missing part. */
    public LoraSpec {
        Objects.requireNonNull(adapter, "adapter");
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(alpha, "alpha");
        targets = List.copyOf(targets);
    }

    /** Whether the run trains adapters. */
    public boolean isAsked() {
        return adapter.isPresent() || rank.isPresent();
    }
}
