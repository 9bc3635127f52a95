package dev.troupe.schedule.builder;

import java.util.ArrayList;
import java.util.List;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;

/**
 * Interleaved 1F1B: every rank holds V stages, a lap of P apart, and microbatches go through them in rounds. The bubble
 * shrinks by V; activations and messages grow.
 *
 * <pre>
 * P = 2, V = 2, M = 4 (stages 0 and 2 on rank 0, 1 and 3 on rank 1)
 * rank 0   0F0 0F1 2F0 2F1 0F2     2B0---- 0F3 2B1---- 2F2 0B0---- 2F3 0B1----     2B2----     2B3---- 0B2---- 0B3----
 * rank 1       1F0 1F1 3F0 3B0---- 3F1 3B1---- 1F2 1B0---- 1F3 1B1---- 3F2 3B2---- 3F3 3B3---- 1B2---- 1B3----
 * </pre>
 *
 * <p>M microbatches make max(1, M / P) rounds, rounded down, and must divide by the rounds. Fewer than P make one
 * round.
 *
 * <p>Source: Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, 2021,
 * section 2.2; the rounds, which free M from being a multiple of P, as in PyTorch.
 */
public record InterleavedOneForwardOneBackward() implements Schedule {
    @Override
    public String name() {
        return "interleaved-1f1b";
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        requireEvenRounds(pipeline, microbatches);
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < pipeline; rank++) {
            rows.add(new Row(rank, pipeline, virtualStages, microbatches).actions());
        }
        return new Plan(name(), pipeline, pipeline * virtualStages, microbatches, Placement.LOOP, rows);
    }

    private void requireEvenRounds(int pipeline, int microbatches) {
        if (hasEvenRounds(pipeline, microbatches)) {
            return;
        }
        int fewer = microbatches - 1;
        while (!hasEvenRounds(pipeline, fewer)) {
            fewer--;
        }
        int more = microbatches + 1;
        while (!hasEvenRounds(pipeline, more)) {
            more++;
        }
        int rounds = rounds(pipeline, microbatches);
        throw new PlanException(name() + " takes " + microbatches + " microbatches through " + pipeline + " ranks in "
                + rounds + " rounds, but " + microbatches + " does not divide by " + rounds + ": take " + fewer + " or "
                + more + " microbatches.");
    }

    private static boolean hasEvenRounds(int pipeline, int microbatches) {
        return microbatches % rounds(pipeline, microbatches) == 0;
    }

    private static int rounds(int pipeline, int microbatches) {
        return Math.max(1, microbatches / pipeline); // rounded down: a round is never shorter than the pipeline
    }

    /** The row of one rank: the k-th forward and the k-th backward are functions of k, and phases only mix them. */
    private record Row(int rank, int pipeline, int virtualStages, int microbatches) {

        List<Action> actions() {
            List<Action> row = new ArrayList<>();
            int total = virtualStages * microbatches;
            int forwards = 0;
            int backwards = 0;
            // 1. Warm-up: forwards through all but the last local stage, and two for every rank that follows.
            long wanted = (long) (virtualStages - 1) * perRound() + 2L * (pipeline - 1 - rank);
            int warmUp = (int) Math.min(wanted, total);
            while (forwards < warmUp) {
                row.add(forward(forwards++));
            }
            // 2. Steady: one forward, one backward.
            while (forwards < total) {
                row.add(forward(forwards++));
                row.add(backward(backwards++));
            }
            // 3. Cool-down: the backwards that are left.
            while (backwards < total) {
                row.add(backward(backwards++));
            }
            return row;
        }

        private Action forward(int k) {
            int localStage = k / perRound() % virtualStages; // rounded down
            return new Action(localStage * pipeline + rank, Kind.FORWARD, microbatch(k));
        }

        private Action backward(int k) {
            int localStage = virtualStages - 1 - k / perRound() % virtualStages; // rounded down
            return new Action(localStage * pipeline + rank, Kind.FULL_BACKWARD, microbatch(k));
        }

        private int microbatch(int k) {
            int round = k / (perRound() * virtualStages); // rounded down
            return round * perRound() + k % perRound();
        }

        private int perRound() {
            return microbatches / rounds(pipeline, microbatches); // exact, see requireEvenRounds
        }
    }
}
