package dev.troupe.schedule.builder;

import dev.troupe.schedule.PlanException;

/** The checks of a schedule's sizes: ranks, stages on a rank, microbatches. */
public final class Sizes {
    private Sizes() {
    }

    public static void requirePositive(String name, int pipeline, int virtualStages, int microbatches) {
        if (pipeline < 1 || virtualStages < 1 || microbatches < 1) {
            throw new PlanException(name + " needs 1 or more ranks, virtual stages and microbatches, but was asked for "
                    + pipeline + ", " + virtualStages + " and " + microbatches + ".");
        }
        if ((long) pipeline * virtualStages > Integer.MAX_VALUE
                || 2L * virtualStages * microbatches > Integer.MAX_VALUE) {
            throw new PlanException(name + " with " + pipeline + " ranks, " + virtualStages + " virtual stages and "
                    + microbatches + " microbatches has more actions on a rank than a plan can hold: take fewer.");
        }
    }

    /** Requires positive sizes, and two stages on a rank. */
    public static void requireTwoStagesARank(String name, int pipeline, int virtualStages, int microbatches) {
        requirePositive(name, pipeline, virtualStages, microbatches);
        if (virtualStages != 2) {
            throw new PlanException(name + " holds two stages on each rank, there and back, but was asked for "
                    + virtualStages + " virtual stage" + (virtualStages == 1 ? "" : "s")
                    + ": set virtual-stages to 2 (parallel.virtual-stages of a run).");
        }
    }

    public static void requireOneStageARank(String name, int virtualStages) {
        if (virtualStages > 1) {
            throw new PlanException(name + " holds one stage on each rank, but was asked for " + virtualStages
                    + " virtual stages: set virtual-stages to 1 (parallel.virtual-stages of a run), or take interleaved-1f1b.");
        }
    }
}
