package dev.troupe.schedule.family;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.RepeatedBlock;
import dev.troupe.schedule.builder.Sizes;

/**
 * V-Min: two stages a rank, there and back, at a third of the activation memory of 1F1B's worst rank (plus a constant, the
 * minimum of any repeated block) and two thirds of its bubble.
 *
 * <pre>
 * One microbatch on P = 4 ranks without its W: it goes through all stages and back without a wait.
 * rank 0   0F-------------------7F7I-------------------0I
 * rank 1      1F-------------6F------6I-------------1I
 * rank 2         2F-------5F------------5I-------2I
 * rank 3            3F-4F------------------4I-3I
 * </pre>
 *
 * <p>Source: Qi et al., Pipeline Parallelism with Controllable Memory, 2024, section 3: the offsets of the repeated block.
 * The paper searches for the start, the end and the place of W; for Troupe's rules see {@link RepeatedBlock}.
 */
public record VMin() implements Schedule {
    @Override
    public String name() {
        return "v-min";
    }

    @Override
    public int usualVirtualStages() {
        return 2;
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requireTwoStagesARank(name(), pipeline, virtualStages, microbatches);
        // With P divisible by 3 the slots would collide with the next microbatch's, hence a third of a period in between.
        int wait = pipeline % 3 == 0 ? 2 : 0;
        return RepeatedBlock.plan(name(), pipeline, microbatches, rank -> new RepeatedBlock.Slots(
                // 1. Forward there: one unit a rank.
                rank,
                // 2. Forward back: one unit a rank.
                2 * pipeline - rank - 1,
                // 3. Input gradient of the way back: one unit a rank.
                2 * pipeline + wait + rank,
                // 4. Input gradient of the way there: one unit a rank.
                4 * pipeline + wait - rank - 1));
    }
}
