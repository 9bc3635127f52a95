package dev.troupe.plan.memory;

import dev.troupe.engine.Engine;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.stage.Replay;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** The blocks that a run can replay ahead of their gradients in a given memory. */
public final class AheadBudget {
    private AheadBudget() {
    }

    /**
     * Returns the run with the largest number of blocks replayed ahead that keeps the additional memory of each rank within
     * a limit. The number is the same in every stage.
     *
     * @param bytes the limit; {@link Long#MAX_VALUE} for none
     * @param engines opens an engine like the ranks', for its sizes
     * @throws UsageException if one block is too many
     */
    public static TrainingPlan fit(TrainingPlan plan, long bytes, Supplier<Engine> engines) {
        if (bytes == Long.MAX_VALUE) {
            return plan;
        }
        try (Engine engine = engines.get()) {
            Replay replay = plan.stageSettings().replay();
            int every = replay.every();
            List<Long> inside = activations(plan.with(replay.withAhead(0)), engine);
            int fitting = 0;
            int most = plan.model().layers().size();
            while (fitting < most) {
                int middle = fitting + (most - fitting + 1) / 2; // rounded up
                if (more(plan.with(replay.withAhead(middle)), engine, inside) <= bytes) {
                    fitting = middle;
                } else {
                    most = middle - 1;
                }
            }
            if (fitting < every) {
                throw new UsageException("training.recompute-ahead = " + MemoryPlan.text(bytes) + ", but " + (every == 1
                        ? "one block"
                        : "training.recompute-every = " + every + " blocks") + " ahead of the gradient would take "
                        + MemoryPlan.text(more(plan.with(replay.withAhead(every)), engine, inside))
                        + " more on a rank: give as much, or none");
            }
            return plan.with(replay.withAhead(fitting));
        }
    }

    private static long more(TrainingPlan plan, Engine engine, List<Long> inside) {
        List<Long> ahead = activations(plan, engine);
        return IntStream.range(0, inside.size()).mapToLong(rank -> ahead.get(rank) - inside.get(rank)).max().orElse(0);
    }

    private static List<Long> activations(TrainingPlan plan, Engine engine) {
        return MemoryPlan.of(plan, engine, false, 0, List.of()).ranks().stream().map(RankMemory::activations).toList();
    }
}
