package dev.troupe.schedule.family;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * GPipe: all forwards, then all backwards. Every rank keeps the activations of all M microbatches.
 *
 * <pre>
 * rank 0   F0 F1 F2 F3                   B0--- B1--- B2--- B3---
 * rank 1      F0 F1 F2 F3          B0--- B1--- B2--- B3---
 * rank 2         F0 F1 F2 F3 B0--- B1--- B2--- B3---
 * </pre>
 *
 * <p>Source: Huang et al., GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism, 2019, section
 * 2.2, with the backwards in ascending order.
 */
public record GPipe() implements Schedule {
    @Override
    public String name() {
        return "gpipe";
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        Sizes.requireOneStageARank(name(), virtualStages);
        return new Plan(name(), pipeline, pipeline, microbatches, Laps.LOOP,
                IntStream.range(0, pipeline).mapToObj(rank -> row(rank, microbatches)).toList());
    }

    private static List<Action> row(int stage, int microbatches) {
        List<Action> row = new ArrayList<>();
        // 1. All forwards.
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            row.add(new Action(stage, Kind.FORWARD, microbatch));
        }
        // 2. All backwards.
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            row.add(new Action(stage, Kind.FULL_BACKWARD, microbatch));
        }
        return row;
    }
}
