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
    private final TrainingPlan plan;
    /** Both made with the first digests; engines that compute nothing have none. */
    private BitLayout layout;
    private long[] values = {};
    private long step = -1;

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

    /** The digests of a step so far; empty where no rank has told any. */
    public Optional<StepBits> of(long ofStep) {
        return ofStep == step ? Optional.of(new StepBits(step, layout, values.clone())) : Optional.empty();
    }
}
