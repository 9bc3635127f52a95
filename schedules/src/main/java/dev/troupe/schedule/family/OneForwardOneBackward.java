package dev.troupe.schedule.family;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.PackedAction;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanRows;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Sizes;

/**
 * 1F1B: each microbatch goes back as soon as it can. Rank r keeps the activations of min(M, P-r) microbatches instead of
 * GPipe's M; the bubble is the same.
 *
 * <pre>
 * rank 0   F0 F1 F2             B0--- F3 B1---    B2---    B3---
 * rank 1      F0 F1       B0--- F2 B1--- F3 B2---    B3---
 * rank 2         F0 B0--- F1 B1--- F2 B2--- F3 B3---
 * </pre>
 *
 * <p>It is defined for every M. If M is smaller than P the warm-up is shorter.
 *
 * <p>Source: Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, 2021, section 2.1 (PipeDream-Flush). The
 * papers count one warm-up forward fewer, because their steady turn is F then B; the order is the same.
 */
public record OneForwardOneBackward() implements Schedule {
    @Override
    public String name() {
        return "1f1b";
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        return rows(pipeline, virtualStages, microbatches).toPlan(Laps.LOOP);
    }

    @Override
    public PlanRows rows(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        Sizes.requireOneStageARank(name(), virtualStages);
        return new Rows(name(), pipeline, microbatches);
    }

    /** The rows of 1F1B, with each action computed from its place, so that none is held in memory. */
    private record Rows(String name, int rankCount, int microbatchCount) implements PlanRows {
        @Override
        public int stageCount() {
            return rankCount;
        }

        @Override
        public int rankOf(int stage, int microbatch) {
            return stage;
        }

        @Override
        public int length(int rank) {
            return 2 * microbatchCount;
        }

        @Override
        public long packed(int rank, int position) {
            // 1. Warm-up: forwards until the gradient of the first microbatch could arrive.
            int warmUp = Math.min(microbatchCount, rankCount - rank);
            if (position < warmUp) {
                return PackedAction.pack(rank, Kind.FORWARD, position);
            }
            // 2. Steady: one backward, one forward.
            int turn = (position - warmUp) / 2; // rounded down: two actions a turn
            boolean backward = (position - warmUp) % 2 == 0;
            if (warmUp + turn < microbatchCount) {
                return backward
                        ? PackedAction.pack(rank, Kind.FULL_BACKWARD, turn)
                        : PackedAction.pack(rank, Kind.FORWARD, warmUp + turn);
            }
            // 3. Cool-down: the remaining backwards.
            return PackedAction.pack(rank, Kind.FULL_BACKWARD, position - microbatchCount);
        }
    }
}
