package dev.troupe.protocol;

/**
 * The factor of a step's loss, and its history (Micikevicius et al. 2018, section 3.2). A step with overflowing gradients is
 * skipped. A dynamic factor is then halved, and it doubles after many good steps, so it stays close to the largest that
 * gradients allow.
 *
 * @param factor the factor of the next step
 * @param goodSteps steps since the last change of a dynamic factor; 0 otherwise
 * @param skipsInRow skipped steps since the last good one
 * @param updates steps that were not skipped, which is the number of updates of weights and moments
 */
public record LossScale(Rule rule, double factor, int goodSteps, int skipsInRow, long updates) {
    /** PyTorch's first factor, of the paper's order of magnitude; overflows halve it quickly if it is too large. */
    private static final double FIRST_FACTOR = 1 << 16;
    /** Good steps until a larger factor is tried, as in PyTorch. */
    private static final int STEPS_TO_DOUBLE = 2000;
    /** Most skips in a row. The factor has then fallen to 2^-20 of its value, so the overflows have another cause. */
    private static final int MOST_SKIPS = 20;

    public enum Rule {
        /** The factor is 1, and no step is skipped. */
        NONE,
        /** The factor stays. */
        FIXED,
        /** The factor adapts to the gradients. */
        DYNAMIC
    }

    public LossScale {
        if (!(factor > 0 && Double.isFinite(factor)) || goodSteps < 0 || goodSteps >= STEPS_TO_DOUBLE
                || skipsInRow < 0 || updates < 0) {
            throw new IllegalArgumentException("a loss scale has a finite factor above 0, fewer than "
                    + STEPS_TO_DOUBLE + " good steps, and counts from 0, but found " + factor + ", " + goodSteps + ", "
                    + skipsInRow + " and " + updates);
        }
        if (rule == Rule.NONE && factor != 1 || rule != Rule.DYNAMIC && goodSteps != 0
                || rule == Rule.DYNAMIC && Math.scalb(1.0, Math.getExponent(factor)) != factor) {
            throw new IllegalArgumentException(
                    "the factor is 1 without a loss scale and a power of 2 with a dynamic one,"
                            + " which alone counts good steps, but found " + rule + ", " + factor + " and "
                            + goodSteps);
        }
    }

    /** Returns a scale of 1 after {@code updates} updates. */
    public static LossScale none(long updates) {
        return new LossScale(Rule.NONE, 1, 0, 0, updates);
    }

    public static LossScale fixed(double factor, long updates) {
        return new LossScale(Rule.FIXED, factor, 0, 0, updates);
    }

    /** Returns the first factor of the dynamic rule. */
    public static LossScale dynamic(long updates) {
        return new LossScale(Rule.DYNAMIC, FIRST_FACTOR, 0, 0, updates);
    }

    public boolean maySkip() {
        return rule != Rule.NONE;
    }

    public boolean hasSkippedTooOften() {
        return skipsInRow >= MOST_SKIPS;
    }

    public LossScale afterUpdate() {
        if (rule != Rule.DYNAMIC) {
            return new LossScale(rule, factor, 0, 0, updates + 1);
        }
        boolean doubles = goodSteps + 1 == STEPS_TO_DOUBLE;
        return new LossScale(rule, doubles ? 2 * factor : factor, doubles ? 0 : goodSteps + 1, 0, updates + 1);
    }

    /**
     * Returns the scale after a skipped step.
     *
     * @param used the factor of that step, which may be an earlier one if steps overlap
     */
    public LossScale afterSkip(double used) {
        return new LossScale(rule, rule == Rule.DYNAMIC ? Math.min(factor, used / 2) : factor, 0, skipsInRow + 1,
                updates);
    }
}
