package dev.troupe.schedule.family;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Row;
import dev.troupe.schedule.builder.Sizes;
import dev.troupe.schedule.builder.WeightQueue;
import java.util.List;

/**
 * DualPipeV: two stages a rank, there and back, with pairs in the steady phase. A pair is the forward of one stage and the
 * backward of the other. A device that does both concurrently overlaps the messages of each with the computing of the other.
 *
 * <pre>
 * P = 2, M = 4 (stages 0 and 3 on rank 0, 1 and 2 on rank 1; parentheses are pairs)
 * rank 0   0F0 0F1 0F2 3F0 3I0 3W0 3F1 (0F3;3B1) (3F2;0B0) 3B2 (3F3;0B1) 3B3 0I2 0W2 0I3 0W3
 * rank 1   1F0 2F0 1F1 2F1 1F2 2B0 (2F2;1B0) (1F3;2B1) (2F3;1B1) 2B2 1B2 2I3 1I3 2W3 1W3
 * </pre>
 *
 * <p>It needs 2P microbatches. If a pair takes as long as its two halves, the bubble is (P-1)/(3M). On a rank that computes
 * one action at a time a step is shorter without pairs: {@link Plan#withRows(java.util.List)} of its own rows.
 *
 * <p>Source: {@code dualpipev.py} of DeepSeek's DualPipe repository, half of DualPipe (DeepSeek-V3 Technical Report, 2024,
 * section 3.2.1) as proposed by Qi et al.; the order of PyTorch's DualPipeV.
 */
public record DualPipeV() implements Schedule {
    @Override
    public String name() {
        return "dualpipev";
    }

    @Override
    public int usualVirtualStages() {
        return 2;
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requireTwoStagesARank(name(), pipeline, virtualStages, microbatches);
        if (microbatches / 2 < pipeline) { // rounded down: an odd microbatch does not count
            throw new PlanException(name() + " needs two microbatches for each rank, but " + pipeline
                    + " ranks were given " + microbatches + ": take " + 2L * pipeline + " or more, or take zbv.");
        }
        return Row.plan(name(), pipeline, virtualStages, microbatches, Laps.V,
                rank -> row(rank, pipeline, microbatches));
    }

    private static Row row(int rank, int pipeline, int microbatches) {
        int there = rank;
        int back = 2 * pipeline - 1 - rank;
        int ranksAfter = pipeline - 1 - rank;
        Row row = new Row(microbatches);
        WeightQueue owed = new WeightQueue(row);
        // 1. Forwards there, two for every later rank.
        for (int i = 0; i < 2 * ranksAfter; i++) {
            row.forward(there);
        }
        // 2. Forwards there and back.
        for (int i = 0; i <= rank; i++) {
            row.forward(there).forward(back);
        }
        // 3. Backward and forward of the way back; I and W are separate, to send the gradient earlier.
        for (int i = 0; i < ranksAfter; i++) {
            owed.backwardInput(back);
            owed.backwardWeight();
            row.forward(back);
        }
        // 4. Main: pairs, forward there over backward back, then forward back over backward there.
        for (int i = 0; i < microbatches - 2 * pipeline + rank + 1; i++) {
            if (i == 0 && ranksAfter == 0) {
                row.forward(there).backward(back); // no pair: the last rank sends its gradient earlier
            } else {
                row.forwardOverBackward(there, back);
            }
            row.forwardOverBackward(back, there);
        }
        // 5. Backwards back, and the last forwards as pairs.
        for (int i = 0; i < ranksAfter; i++) {
            row.backward(back).forwardOverBackward(back, there);
        }
        // 6. Backwards back and there; the second half is split, with W later.
        int backwards = rank + 1;
        for (int i = 0; i < 2 * backwards; i++) {
            int stage = i % 2 == 0 ? back : there;
            if (i < backwards) {
                row.backward(stage);
            } else {
                owed.backwardInput(stage);
            }
        }
        // 7. Pending W, and the last backwards there.
        for (int i = 0; i < ranksAfter; i++) {
            owed.backwardWeight();
            owed.backwardInput(there);
        }
        // 8. The remaining W.
        for (int i = 0; i <= rank; i++) {
            owed.backwardWeight();
        }
        return row;
    }
}
