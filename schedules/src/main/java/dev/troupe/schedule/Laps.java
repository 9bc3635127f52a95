package dev.troupe.schedule;

/** Placements of a stage on one rank: each lap over the ranks gives every rank one more virtual stage. */
public enum Laps implements Placement {
    /** See {@link Placement#LOOP}. */
    LOOP {
        @Override
        public int rankOf(int stage, int microbatch, int rankCount) {
            return stage % rankCount;
        }
    },
    /** See {@link Placement#V}. */
    V {
        @Override
        public int rankOf(int stage, int microbatch, int rankCount) {
            int step = stage % rankCount;
            boolean there = stage / rankCount % 2 == 0;
            return there ? step : rankCount - 1 - step;
        }
    }
}
