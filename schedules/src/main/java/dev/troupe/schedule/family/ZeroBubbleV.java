package dev.troupe.schedule.family;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Row;
import dev.troupe.schedule.builder.Sizes;

/**
 * ZBV: two stages a rank, there and back: the way back begins on the last rank, and rank 0 has the loss. With F, I and W of
 * equal length no rank has a gap between its first action and its last, and each keeps P microbatches of the model at most,
 * as 1F1B does at its worst.
 *
 * <pre>
 * P = 2, M = 3 (stages 0 and 3 on rank 0, 1 and 2 on rank 1)
 * rank 0   0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0I0 0W0 3F2 3I2 3W2 0I1 0W1 0I2 0W2
 * rank 1       1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1I1 2I2 1I2 1W1 2W2 1W2
 * </pre>
 *
 * <p>The order is made for 2P-1 microbatches or more; with fewer, the missing microbatches are left out.
 *
 * <p>Source: Qi et al., Zero Bubble Pipeline Parallelism, 2023, section 6; the order of PyTorch's ZBVZeroBubble.
 */
public record ZeroBubbleV() implements Schedule {
    @Override
    public String name() {
        return "zbv";
    }

    @Override
    public int usualVirtualStages() {
        return 2;
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requireTwoStagesARank(name(), pipeline, virtualStages, microbatches);
        return Row.plan(name(), pipeline, virtualStages, microbatches, Laps.V,
                rank -> row(rank, pipeline, microbatches));
    }

    private static Row row(int rank, int pipeline, int microbatches) {
        int there = rank;
        int back = 2 * pipeline - 1 - rank;
        int whole = Math.max(2 * pipeline - 1, microbatches);
        Row row = new Row(microbatches);
        // 1. Warm-up, there: forwards until the first microbatch is on its way back.
        for (int i = 0; i < 2 * (pipeline - rank) - 1; i++) {
            row.forward(there);
        }
        // 2. Warm-up, both ways: one forward back, one there.
        for (int i = 0; i < rank; i++) {
            row.forward(back).forward(there);
        }
        // 3. Warm-up, back: the gradients of the way back arrive.
        for (int i = 0; i < pipeline - rank; i++) {
            row.forward(back).backwardInput(back).backwardWeight(back);
        }
        // 4. Steady: F, I and W there, then back.
        while (row.count(back, Kind.FORWARD) < whole) {
            if (row.count(there, Kind.FORWARD) < whole) {
                row.forward(there);
            }
            row.backwardInput(there).backwardWeight(there);
            row.forward(back).backwardInput(back).backwardWeight(back);
        }
        // 5. Cool-down: the I that others wait for first, with W in the gaps.
        for (int i = 0; i < rank; i++) {
            row.backwardInput(there).backwardInput(back);
        }
        for (int i = 0; i < pipeline - rank; i++) {
            row.backwardInput(there).backwardWeight(there);
        }
        // 6. The remaining W.
        while (row.count(back, Kind.BACKWARD_WEIGHT) < whole) {
            row.backwardWeight(back);
        }
        while (row.count(there, Kind.BACKWARD_WEIGHT) < whole) {
            row.backwardWeight(there);
        }
        return row;
    }
}
