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
 * Looped breadth first: every rank does the forwards of all microbatches in its first stage, then in the next. Backwards go
 * through the stages in reverse. The bubble is GPipe's divided by V; a rank keeps up to M V activations.
 *
 * <pre>
 * P = 2, V = 2, M = 2 (stages 0 and 2 on rank 0, 1 and 3 on rank 1)
 * rank 0   0F0 0F1 2F0 2F1         2B1---- 2B0---- 0B1---- 0B0----
 * rank 1       1F0 1F1 3F0 3F1 3B1---- 3B0---- 1B1---- 1B0----
 * </pre>
 *
 * <p>Source: Lamy-Poirier, Breadth-First Pipeline Parallelism, 2023, section 3. Backwards take the microbatches in reverse,
 * so that the newest activations are freed first, as in PyTorch.
 */
public record LoopedBfs() implements Schedule {
    @Override
    public String name() {
        return "looped-bfs";
    }

    @Override
    public int usualVirtualStages() {
        return 2;
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        int stageCount = pipeline * virtualStages;
        return new Plan(name(), pipeline, stageCount, microbatches, Laps.LOOP, IntStream.range(0, pipeline)
                .mapToObj(rank -> row(Laps.LOOP.stagesOf(rank, pipeline, stageCount), microbatches)).toList());
    }

    private static List<Action> row(List<Integer> stages, int microbatches) {
        List<Action> row = new ArrayList<>();
        // 1. All forwards, stage by stage.
        for (int stage : stages) {
            for (int microbatch = 0; microbatch < microbatches; microbatch++) {
                row.add(new Action(stage, Kind.FORWARD, microbatch));
            }
        }
        // 2. All backwards, in reverse.
        for (int stage : stages.reversed()) {
            for (int microbatch = microbatches - 1; microbatch >= 0; microbatch--) {
                row.add(new Action(stage, Kind.FULL_BACKWARD, microbatch));
            }
        }
        return row;
    }
}
