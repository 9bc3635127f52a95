package dev.troupe.config.spec;

import dev.troupe.config.value.Range;
import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The low-rank adapters of a run; if it has any, no other parameter is trained.
 *
 * @param adapter absolute path of a directory with the adapters to begin with, which defines rank, alpha and targets
 * @param targets names of the matrices that have an adapter; none: the choice of the adapter or of the model's family
 */
public record LoraSpec(Optional<Path> adapter, OptionalInt rank, OptionalDouble alpha, List<String> targets,
        double dropout) {
    private static final String ADAPTER = "model.adapter";
    private static final String RANK = "training.lora.rank";
    private static final String ALPHA = "training.lora.alpha";
    private static final String TARGETS = "training.lora.targets";
    private static final String DROPOUT = "training.lora.dropout";
    private static final int MOST_RANK = 1 << 16;

    public LoraSpec {
        Objects.requireNonNull(adapter, "adapter");
        Objects.requireNonNull(rank, "rank");
        Objects.requireNonNull(alpha, "alpha");
        targets = List.copyOf(targets);
    }

    /** Reads the section {@code training.lora} and {@code model.adapter}, and reports settings without an effect. */
    static LoraSpec read(Values values) {
        int rank = values.integer(RANK, 0, MOST_RANK);
        double alpha = values.decimal(ALPHA, Range.NOT_NEGATIVE);
        List<String> targets = values.each(TARGETS, "a list of names, such as [all-linear]", (text, _, _) -> text);
        double dropout = values.decimal(DROPOUT, Range.FRACTION);
        LoraSpec lora = new LoraSpec(Optional.ofNullable(values.path(ADAPTER, Set.of(""))),
                rank == 0 ? OptionalInt.empty() : OptionalInt.of(rank),
                alpha == 0 ? OptionalDouble.empty() : OptionalDouble.of(alpha), targets, dropout);
        if (values.sound(ADAPTER, RANK) && !lora.isAsked()) {
            String without = "its default while " + RANK + " is 0 and " + ADAPTER + " names no adapter";
            String change = "set one of them, or take this key away";
            if (alpha > 0) {
                values.report(ALPHA, without, "" + alpha, change);
            }
            if (!targets.isEmpty()) {
                values.report(TARGETS, without, "" + targets, change);
            }
            if (dropout > 0) {
                values.report(DROPOUT, without, "" + dropout, change);
            }
        }
        return lora;
    }

    /** Returns whether the run trains adapters. */
    public boolean isAsked() {
        return adapter.isPresent() || rank.isPresent();
    }
}
