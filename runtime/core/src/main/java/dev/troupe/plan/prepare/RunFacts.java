package dev.troupe.plan.prepare;

import dev.troupe.plan.memory.RankMemory;
import java.util.List;

/**
 * The facts of a run that are known before it starts.
 *
 * @param firstStep the first step that this process trains, from 0
 * @param steps the number of steps at which it ends
 * @param memory the maximum bytes of each rank
 */
public record RunFacts(String name, String plan, long firstStep, long steps, long tokensPerStep,
        List<RankMemory> memory) {
    public RunFacts {
        memory = List.copyOf(memory);
    }

    public static RunFacts of(PreparedRun run, long firstStep) {
        return new RunFacts(run.spec().name(), run.plan().training().plan().name(), firstStep,
                run.spec().training().steps(),
                (long) run.spec().training().globalBatchSize() * run.batches().sequenceLength(), run.memory().ranks());
    }
}
