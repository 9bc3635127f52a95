package dev.troupe.schedule;

import java.util.List;
import java.util.stream.IntStream;

/** Which rank holds a stage. Each lap over the ranks gives every rank one more virtual stage. */
public enum Placement {
    /** Every lap runs the same way: stage i on rank i mod P. With P = 2: stages 0 1 0' 1' on ranks 0 1 0 1. */
    LOOP {
        @Override
        public int rankOf(int stage, int rankCount) {
            return stage % rankCount;
        }
    },
    /** There and back: every second lap runs backwards, so that the last rank of one lap is the first of the next. */
    V {
        @Override
        public int rankOf(int stage, int rankCount) {
            int step = stage % rankCount;
            boolean there = stage / rankCount % 2 == 0;
            return there ? step : rankCount - 1 - step;
        }
    };

    /**
     * Returns the rank that holds a stage.
     *
     * @param stage index of the stage, from 0
     * @param rankCount number of ranks in the pipeline, P
     */
    public abstract int rankOf(int stage, int rankCount);

    /** Returns the stages that a rank holds, ascending. */
    public List<Integer> stagesOf(int rank, int rankCount, int stageCount) {
        return IntStream.range(0, stageCount).filter(stage -> rankOf(stage, rankCount) == rank).boxed().toList();
    }
}
