package dev.troupe.schedule.builder;

import java.util.ArrayList;
import java.util.List;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;

/**
 * 1F1B: as soon as a microbatch can go back it does, so that rank r keeps the activations of min(M, P-r) microbatches
 * where GPipe keeps M. The bubble is the same.
 *
 * <pre>
 * rank 0   F0 F1 F2             B0--- F3 B1---    B2---    B3---
 * rank 1      F0 F1       B0--- F2 B1--- F3 B2---    B3---
 * rank 2         F0 B0--- F1 B1--- F2 B2--- F3 B3---
 * </pre>
 *
 * <p>It is defined for every M, smaller than P too: the warm-up is then cut short.
 *
 * <p>Source: Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, 2021, section 2.1 (PipeDream-Flush).
 * The papers count one warm-up forward fewer, because their steady turn is F then B; the order is the same.
 */
public record OneForwardOneBackward() implements Schedule {
    @Override
    public String name() {
        return "1f1b";
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        Sizes.requireOneStageARank(name(), virtualStages);
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < pipeline; rank++) {
            rows.add(row(rank, pipeline, microbatches));
        }
        return new Plan(name(), pipeline, pipeline, microbatches, Placement.LOOP, rows);
    }

    private static List<Action> row(int rank, int pipeline, int microbatches) {
        List<Action> row = new ArrayList<>();
        int forwards = 0;
        int backwards = 0;
        // 1. Warm-up: forwards until the first microbatch could be back.
        int warmUp = Math.min(microbatches, pipeline - rank);
        while (forwards < warmUp) {
            row.add(new Action(rank, Kind.FORWARD, forwards++));
        }
        // 2. Steady: one backward, one forward.
        while (forwards < microbatches) {
            row.add(new Action(rank, Kind.FULL_BACKWARD, backwards++));
            row.add(new Action(rank, Kind.FORWARD, forwards++));
        }
        // 3. Cool-down: the backwards that are left.
        while (backwards < microbatches) {
            row.add(new Action(rank, Kind.FULL_BACKWARD, backwards++));
        }
        return row;
    }
}
