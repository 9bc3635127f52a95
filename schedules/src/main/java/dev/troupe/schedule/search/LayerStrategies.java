package dev.troupe.schedule.search;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The choice of a strategy for each layer of a stage under a memory budget, by dynamic programming: C(l, E, j), the
 * shortest time of the layers l, l+1, ... with E units of memory left after layer l-1 took strategy j, is the least over
 * s of time(l, s) + transition(l, j, s) + C(l+1, E - memory(l, s), s). The last strategy is part of the state, because
 * of the transition. Exact for memory in whole units, which the caller rounds up; layers x strategies^2 x budget steps.
 * Of equal choices it takes the one with the smallest first strategy, then the smallest second one, and so on.
 *
 * <p>Source: Miao et al., Galvatron, 2022, section 3.3; the paper prints the recurrence without j.
 *
 * @param nanos time by layer and strategy
 * @param memory units of memory by layer and strategy
 * @param transitionNanos time to bring a layer's input from one strategy to another, by layer, strategy before and
 * strategy; of the first layer it does not count
 */
public record LayerStrategies(long[][] nanos, int[][] memory, long[][][] transitionNanos) {
    private static final long NEVER = Long.MAX_VALUE;

    /**
     * Strategies by layer and the time of all layers.
     *
     * @param strategies for each layer the index of its strategy
     */
    public record Choice(List<Integer> strategies, long nanos) {
        public Choice {
            strategies = List.copyOf(strategies);
        }
    }

    /** Returns the best choice that takes at most this memory; empty if none does. */
    public Optional<Choice> within(int budget) {
        int layers = nanos.length;
        int count = nanos[0].length;
        long[][][] best = new long[layers + 1][count][budget + 1];
        for (int layer = layers - 1; layer >= 0; layer--) {
            // Before the first layer there is no strategy: the first index is a placeholder.
            for (int before = 0; before < (layer == 0 ? 1 : count); before++) {
                for (int left = 0; left <= budget; left++) {
                    long least = NEVER;
                    for (int strategy = 0; strategy < count; strategy++) {
                        least = Math.min(least, time(best, layer, left, before, strategy));
                    }
                    best[layer][before][left] = least;
                }
            }
        }
        return best[0][0][budget] == NEVER ? Optional.empty() : Optional.of(walk(best, budget));
    }

    private long time(long[][][] best, int layer, int left, int before, int strategy) {
        int rest = left - memory[layer][strategy];
        if (rest < 0 || best[layer + 1][strategy][rest] == NEVER) {
            return NEVER;
        }
        return nanos[layer][strategy] + (layer == 0 ? 0 : transitionNanos[layer][before][strategy])
                + best[layer + 1][strategy][rest];
    }

    private Choice walk(long[][][] best, int budget) {
        List<Integer> strategies = new ArrayList<>();
        int left = budget;
        int before = 0;
        for (int layer = 0; layer < nanos.length; layer++) {
            int strategy = 0;
            while (time(best, layer, left, before, strategy) != best[layer][before][left]) {
                strategy++;
            }
            strategies.add(strategy);
            left -= memory[layer][strategy];
            before = strategy;
        }
        return new Choice(strategies, best[0][0][budget]);
    }
}
