package dev.troupe.config;

import dev.troupe.config.spec.LoraSpec;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;

/** Reads the section {@code training.lora}, and {@code model.adapter}. */
final class LoraReader {
    private static final String ADAPTER = "model.adapter";
    private static final String RANK = "training.lora.rank";
    private static final String ALPHA = "training.lora.alpha";
    private static final String TARGETS = "training.lora.targets";
    private static final String DROPOUT = "training.lora.dropout";
    private static final int MOST_RANK = 1 << 16;

    private LoraReader() {
    }

    /** Reads the section and reports settings of adapters that no key asks for. */
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
}
