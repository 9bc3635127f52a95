package dev.troupe.config.spec.update;

import dev.troupe.config.value.Values;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * The factor of the loss before the backward, from {@code training.loss-scale}.
 *
 * @param kind the way to choose the factor
 * @param factor the factor if it is fixed; otherwise 1
 */
public record LossScaleSpec(Kind kind, double factor) {
    /** No scaling. */
    public static final LossScaleSpec NONE = new LossScaleSpec(Kind.NONE, 1);

    private static final String KEY = "training.loss-scale";
    private static final Pattern TEXT = Pattern
            .compile("none|dynamic|(?=[^eE]*[1-9])(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d{1,2})?");

    public LossScaleSpec {
        Objects.requireNonNull(kind, "kind");
    }

    /** The ways to choose the factor. */
    public enum Kind {
        /** The loss stays as it is. */
        NONE,
        /** One factor for all steps. */
        FIXED,
        /** A factor as large as gradients allow without overflow. */
        DYNAMIC
    }

    public static LossScaleSpec read(Values values) {
        String text = values.text(KEY, TEXT, "none, dynamic or a number above 0");
        LossScaleSpec scale = switch (text) {
            case "none" -> NONE;
            case "dynamic" -> new LossScaleSpec(Kind.DYNAMIC, 1);
            default -> new LossScaleSpec(Kind.FIXED, Double.parseDouble(text));
        };
        values.settle(KEY, scale.text());
        return scale;
    }

    /** Returns the factor as a configuration has it. */
    public String text() {
        return switch (kind) {
            case NONE -> "none";
            case DYNAMIC -> "dynamic";
            case FIXED -> Double.toString(factor);
        };
    }
}
