package dev.troupe.schedule;

/** Placements of a stage on one rank: each lap over the ranks gives every rank one more virtual stage. */
public enum Laps implements Placement {
    /** Every lap runs the same way: stage i on rank i mod P. With P = 2: stages 0 1 0' 1' on ranks 0 1 0 1. */
    LOOP {
        @Override
        public int rankOf(int stage, int microbatch, int rankCount) {
            return stage % rankCount;
        }
    },
    /** There and back: every second lap runs backwards. The last rank of one lap is the first of the next. */
    V {
        @Override
        public int rankOf(int stage, int microbatch, int rankCount) {
            int step = stage % rankCount;
            boolean there = stage / rankCount % 2 == 0;
            return there ? step : rankCount - 1 - step;
        }
    }
}
