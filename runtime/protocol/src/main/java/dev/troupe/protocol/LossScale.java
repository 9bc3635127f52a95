package dev.troupe.protocol;

/**
 * What the loss of a step is multiplied by, and what was learnt of it (Micikevicius et al. 2018, section 3.2). A step whose
 * gradients overflow is skipped; a factor that adapts is halved then, and doubled after many good steps. So it stays as
 * large as gradients bear, at the price of a skipped step now and then.
 *
 * @param rule how the factor is chosen
 * @param factor of the next step
 * @param goodSteps since the factor changed last, if it adapts; 0 otherwise
 * @param skipsInRow steps that were skipped since the last good one
 * @param updates steps that were not skipped: what weights and moments have seen
 */
public record LossScale(Rule rule, double factor, int goodSteps, int skipsInRow, long updates) {
    /** The factor to begin with: PyTorch's and the paper's order of size, soon found to be too large if it is. */
    private static final double FIRST_FACTOR = 1 << 16;
    /** Good steps until a larger factor is tried, as in PyTorch. */
    private static final int STEPS_TO_DOUBLE = 2000;
    /** Skips in a row from which on it is not the factor that makes gradients overflow: it is 2^-20 of what it was. */
    private static final int MOST_SKIPS = 20;

    /** How the factor is chosen. */
    public enum Rule {
        /** It is 1, and no step is skipped. */
        NONE,
        /** It stays. */
        FIXED,
        /** It follows what gradients bear. */
        DYNAMIC
    }

    public LossScale {
        if (!(factor > 0) || goodSteps < 0 || skipsInRow < 0 || updates < 0) {
            throw new IllegalArgumentException(
                    "a loss scale has a factor above 0 and counts from 0, but found " + factor
                            + ", " + goodSteps + ", " + skipsInRow + " and " + updates);
        }
    }

    /** Loss and gradients as they are, after {@code updates} updates. */
    public static LossScale none(long updates) {
        return new LossScale(Rule.NONE, 1, 0, 0, updates);
    }

    /** One factor for all steps. */
    public static LossScale fixed(double factor, long updates) {
        return new LossScale(Rule.FIXED, factor, 0, 0, updates);
    }

    /** A factor that adapts, at its beginning. */
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
     * After a step that was skipped.
     *
     * @param used the factor of that step, which may be an earlier one where steps overlap
     */
    public LossScale afterSkip(double used) {
        return new LossScale(rule, rule == Rule.DYNAMIC ? Math.min(factor, used / 2) : factor, 0, skipsInRow + 1,
                updates);
    }
}
