package dev.troupe.schedule.family;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Rounds;
import dev.troupe.schedule.builder.Row;
import dev.troupe.schedule.builder.Sizes;

/**
 * Interleaved 1F1B: every rank holds V stages, P apart, and microbatches go through them in rounds. The bubble is divided by
 * V; activations and messages increase.
 *
 * <pre>
 * P = 2, V = 2, M = 4 (stages 0 and 2 on rank 0, 1 and 3 on rank 1)
 * rank 0   0F0 0F1 2F0 2F1 0F2     2B0---- 0F3 2B1---- 2F2 0B0---- 2F3 0B1----     2B2----     2B3---- 0B2---- 0B3----
 * rank 1       1F0 1F1 3F0 3B0---- 3F1 3B1---- 1F2 1B0---- 1F3 1B1---- 3F2 3B2---- 3F3 3B3---- 1B2---- 1B3----
 * </pre>
 *
 * <p>M microbatches make max(1, M / P) rounds, rounded down, and M must be divisible by this number. Fewer than P make one
 * round.
 *
 * <p>Source: Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, 2021,
 * section 2.2; the rounds, which allow M that is no multiple of P, as in PyTorch.
 */
public record InterleavedOneForwardOneBackward() implements Schedule {
    @Override
    public String name() {
        return "interleaved-1f1b";
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
        int forwards = 0;
        int backwards = 0;
        // 1. Warm-up: forwards through all but the last local stage, and two for every later rank.
        int warmUp = rounds.warmUp(rank, 2);
        while (forwards < warmUp) {
            row.forward(rounds.forwardStage(rank, forwards++));
        }
        // 2. Steady: one forward, one backward.
        while (forwards < rounds.perRank()) {
            row.forward(rounds.forwardStage(rank, forwards++));
            row.backward(rounds.backwardStage(rank, backwards++));
        }
        // 3. Cool-down: the remaining backwards.
        while (backwards < rounds.perRank()) {
            row.backward(rounds.backwardStage(rank, backwards++));
        }
        return row;
    }
}
