package dev.troupe.bits;

import dev.troupe.plan.TrainingPlan;
import java.util.Arrays;
import java.util.Optional;

/**
 * The digests of the step under way, put together from those of its ranks; a rank that begins the step again replaces its
 * earlier ones.
 *
 * <p>Thread rule: the coordinator's thread.
 */
public final class StepsOfBits {
    private static final long NONE = -1;

    private final TrainingPlan plan;
    /** Both made with the first digests; engines that compute nothing have none. */
    private BitLayout layout;
    private long[] values = {};
    private long step = NONE;
    /** Of the steps committed so far; null while there is none. */
    private NotFinite earliest;

    /** The steps of a run. */
    public StepsOfBits(TrainingPlan plan) {
        this.plan = plan;
    }

    /** A rank has come so far in a step. */
    public void add(long ofStep, RankBits bits) {
        if (bits.values().length == 0) {
            return;
        }
        if (layout == null) {
            layout = BitLayout.of(plan);
            values = new long[layout.keys().size()];
        }
        if (ofStep != step) {
            step = ofStep;
            Arrays.fill(values, RankBits.NONE);
        }
        System.arraycopy(bits.values(), 0, values, layout.start(bits.rank()) + bits.first(), bits.values().length);
    }

    /**
     * The first output with a number that is not finite, of a step or of the one under way after it; empty where all are
     * finite.
     */
    public Optional<NotFinite> firstNotFinite() {
        return earliest == null
                ? of(step).flatMap(bits -> bits.firstNotFinite().map(key -> new NotFinite(bits.step(), key)))
                : Optional.of(earliest);
    }

    /** A step is committed; where it was skipped, its gradients overflowed as they may. */
    public void committed(long ofStep, boolean isSkipped) {
        if (!isSkipped && earliest == null) {
            earliest = firstNotFinite().orElse(null);
        }
        step = ofStep == step ? NONE : step;
    }

    /**
     * An output with a number that is not finite.
     *
     * @param step
     *            its step
     * @param output
     *            what it is
     */
    public record NotFinite(long step, BitKey output) {
    }

    /** The digests of a step so far; empty where no rank has told any. */
    public Optional<StepBits> of(long ofStep) {
        return ofStep == step && step != NONE
                ? Optional.of(new StepBits(step, layout, values.clone()))
                : Optional.empty();
    }
}
