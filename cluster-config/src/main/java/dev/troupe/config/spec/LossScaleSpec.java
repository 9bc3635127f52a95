package dev.troupe.config.spec;

import java.util.Objects;

/**
 * The factor of the loss before the backward, from {@code training.loss-scale}.
 *
 * @param kind how the factor is chosen
 * @param factor the factor where it is fixed; 1 otherwise
 */
public record LossScaleSpec(Kind kind, double factor) {
    /** No scaling. */
    public static final LossScaleSpec NONE = new LossScaleSpec(Kind.NONE, 1);

    /** Refuses a missing kind. */
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

    public static LossScaleSpec of(String text) {
        return switch (text) {
            case "none" -> NONE;
            case "dynamic" -> new LossScaleSpec(Kind.DYNAMIC, 1);
            default -> new LossScaleSpec(Kind.FIXED, Double.parseDouble(text));
        };
    }

    /** The factor as a configuration has it. */
    public String text() {
        return switch (kind) {
            case NONE -> "none";
            case DYNAMIC -> "dynamic";
            case FIXED -> Double.toString(factor);
        };
    }
}
