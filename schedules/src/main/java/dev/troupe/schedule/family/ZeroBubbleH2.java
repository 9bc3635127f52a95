package dev.troupe.schedule.family;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Row;
import dev.troupe.schedule.builder.Sizes;

/**
 * ZB-H2: zero bubble with forwards also in the bubble at the start. Every rank is busy without a gap from its first action
 * to its last, for the memory of 2P-1 microbatches on each.
 *
 * <pre>
 * P = 2, M = 4
 * rank 0   F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3
 * rank 1      F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
 * </pre>
 *
 * <p>The rank that starts last, P-1 forwards late, also ends last: a step that waits for all of them takes P-1 forwards more
 * than the ideal time. With fewer than 2P-1 microbatches there are not enough forwards, and gaps remain.
 *
 * <p>Source: Qi et al., Zero Bubble Pipeline Parallelism, 2023, section 3.2. The paper draws one example. Troupe does
 * 2(P-r)-1 forwards on rank r until the first gradient arrives, and delays its W by 2r microbatches, which keeps the peak at
 * 2P-1 on every rank. The paper skips the barrier of the optimizer, so that each rank starts the next step right after this
 * one. Troupe keeps the barrier, and with it the P-1 forwards.
 */
public record ZeroBubbleH2() implements Schedule {
    @Override
    public String name() {
        return "zb-h2";
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        Sizes.requireOneStageARank(name(), virtualStages);
        // 1. to 3. are as in ZB-H1, with a warm-up and a delay about twice as long.
        return Row.plan(name(), pipeline, virtualStages, microbatches, Laps.LOOP,
                rank -> ZeroBubbleH1.row(rank, 2 * (pipeline - rank) - 1, 2 * rank, microbatches));
    }
}
