package dev.troupe.schedule.family;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.RepeatedBlock;
import dev.troupe.schedule.builder.Sizes;

/**
 * V-Half: two stages a rank, there and back, at half the activation memory of 1F1B's worst rank and half its bubble.
 *
 * <pre>
 * One microbatch on P = 4 ranks without its W: forwards take two units a rank there and one back, and so do gradients.
 * rank 0   0F----------------------------7F 7I-------------------------------------0I
 * rank 1         1F-----------------6F----------7I------------------------------1I
 * rank 2               2F-------5F--------------------5I-------------------2I
 * rank 3                     3F-4F--------------------------4I----------3I
 * </pre>
 *
 * <p>Source: Qi et al., Pipeline Parallelism with Controllable Memory, 2024, section 3: the offsets of the repeated block.
 * The paper searches for the start, the end and the place of W; for Troupe's rules see {@link RepeatedBlock}.
 */
public record VHalf() implements Schedule {
    @Override
    public String name() {
        return "v-half";
    }

    @Override
    public int usualVirtualStages() {
        return 2;
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requireTwoStagesARank(name(), pipeline, virtualStages, microbatches);
        // With an even P the slots would collide with the next microbatch's, hence half a period between there and back.
        int wait = pipeline % 2 == 0 ? 3 : 0;
        return RepeatedBlock.plan(name(), pipeline, microbatches, rank -> new RepeatedBlock.Slots(
                // 1. Forward there: two units a rank.
                2 * rank,
                // 2. Forward back: one unit a rank.
                3 * pipeline - rank - 2,
                // 3. Input gradient of the way back: two units a rank.
                3 * pipeline + wait + 2 * rank - 1,
                // 4. Input gradient of the way there: one unit a rank.
                6 * pipeline + wait - rank - 2));
    }
}
