package dev.troupe.schedule.family;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Rounds;
import dev.troupe.schedule.builder.Row;
import dev.troupe.schedule.builder.Sizes;
import dev.troupe.schedule.builder.WeightQueue;

/**
 * Interleaved zero bubble (ZB1P): interleaved 1F1B with split backwards. The warm-up is shorter, since a gradient waits for
 * I alone on each rank. Rank r delays its W by r microbatches, so that they fill the bubble at the end and every rank has
 * the same peak memory.
 *
 * <pre>
 * P = 2, V = 2, M = 2 (stages 0 and 2 on rank 0, 1 and 3 on rank 1)
 * rank 0   0F0 0F1 2F0 2F1     2I0 2W0 2I1 2W1 0I0 0W0 0I1 0W1
 * rank 1       1F0 1F1 3F0 3I0 3F1 3I1 3W0 1I0 3W1 1I1 1W0 1W1
 * </pre>
 *
 * <p>M must be divisible into rounds as in interleaved 1F1B. With V = 1 it differs from ZB-H1 only in the place of W in a
 * turn.
 *
 * <p>Source: Qi et al., Zero Bubble Pipeline Parallelism, 2023 (ZB-1P with the stages of interleaved 1F1B); the order of
 * PyTorch's InterleavedZeroBubble.
 */
public record InterleavedZeroBubble() implements Schedule {
    @Override
    public String name() {
        return "interleaved-zero-bubble";
    }

    @Override
    public int usualVirtualStages() {
        return 2;
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        Rounds rounds = Rounds.of(name(), pipeline, virtualStages, microbatches);
        return Row.plan(name(), pipeline, virtualStages, microbatches, Laps.LOOP, rank -> row(rank, rounds));
    }

    private static Row row(int rank, Rounds rounds) {
        Row row = new Row(rounds.microbatches());
        WeightQueue owed = new WeightQueue(row);
        int forwards = 0;
        int backwards = 0;
        // 1. Warm-up: forwards through all but the last local stage, and one for every later rank.
        int warmUp = rounds.warmUp(rank, 1);
        while (forwards < warmUp) {
            row.forward(rounds.forwardStage(rank, forwards++));
        }
        // 2. Steady: one forward, one I, and the oldest W if more than r are pending. Cool-down: the same without forwards.
        while (backwards < rounds.perRank()) {
            if (forwards < rounds.perRank()) {
                row.forward(rounds.forwardStage(rank, forwards++));
            }
            owed.backwardInput(rounds.backwardStage(rank, backwards++));
            if (owed.size() > rank) {
                owed.backwardWeight();
            }
        }
        // 3. The remaining W.
        while (owed.size() > 0) {
            owed.backwardWeight();
        }
        return row;
    }
}
