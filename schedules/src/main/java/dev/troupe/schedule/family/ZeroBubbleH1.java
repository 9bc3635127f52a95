package dev.troupe.schedule.family;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Row;
import dev.troupe.schedule.builder.Sizes;

/**
 * ZB-H1: 1F1B with split backwards. Later ranks delay their W longer, so that W fill the bubble at the end. Every rank keeps
 * the activations of P microbatches, like rank 0 under 1F1B. The bubble is a third of 1F1B's if F, I and W take equally
 * long.
 *
 * <pre>
 * P = 3, M = 4
 * rank 0   F0 F1 F2       I0 W0 F3 I1 W1    I2 W2    I3 W3
 * rank 1      F0 F1    I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
 * rank 2         F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
 * </pre>
 *
 * <p>Source: Qi et al., Zero Bubble Pipeline Parallelism, 2023, section 3.1. The paper draws the order and gives its bubble,
 * (P-1)(F + B - W), but no rule for other sizes. A delay of r microbatches on rank r keeps the peak at P on every rank, for
 * any M.
 */
public record ZeroBubbleH1() implements Schedule {
    @Override
    public String name() {
        return "zb-h1";
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        Sizes.requireOneStageARank(name(), virtualStages);
        return Row.plan(name(), pipeline, virtualStages, microbatches, Laps.LOOP,
                rank -> row(rank, pipeline - rank, rank, microbatches));
    }

    /**
     * Returns the row of a rank with one stage.
     *
     * @param warmUp forwards before the first backward, at most M of them
     * @param delay microbatches by which W follows I
     * @param microbatches microbatches in the step, M
     */
    static Row row(int stage, int warmUp, int delay, int microbatches) {
        Row row = new Row(microbatches);
        // 1. Warm-up: forwards until the gradient of the first microbatch could arrive.
        for (int i = 0; i < warmUp; i++) {
            row.forward(stage);
        }
        // 2. Steady: one I, one F, and a W if enough are pending. In the cool-down no forward is left to add.
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            row.backwardInput(stage);
            if (microbatch >= delay) {
                row.backwardWeight(stage);
            }
            row.forward(stage);
        }
        // 3. The remaining W.
        while (row.count(stage, Kind.BACKWARD_WEIGHT) < microbatches) {
            row.backwardWeight(stage);
        }
        return row;
    }
}
