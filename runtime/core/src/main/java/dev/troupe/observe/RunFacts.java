package dev.troupe.observe;

import dev.troupe.memory.RankMemory;
import java.util.List;

/**
 * What is known of a run before it starts.
 *
 * @param name its name
 * @param plan the name of its plan
 * @param firstStep the first step that this process trains, from 0
 * @param steps the number of steps at which it ends
 * @param tokensPerStep the tokens of one step
 * @param memory the bytes that each rank takes at most
 */
public record RunFacts(String name, String plan, long firstStep, long steps, long tokensPerStep,
        List<RankMemory> memory) {
    public RunFacts {
        memory = List.copyOf(memory);
    }
}
