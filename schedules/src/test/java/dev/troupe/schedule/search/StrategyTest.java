package dev.troupe.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.search.LayerStrategies.Choice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class StrategyTest {
    /** The counts of Galvatron's decision trees: 34 and 22 for 8 devices are in the paper. */
    @ParameterizedTest
    @CsvSource({"2, 4, 4, 8", "4, 13, 11, 22", "8, 34, 22, 44", "16, 73, 37, 74", "32, 136, 56, 112",
            "64, 229, 79, 158"})
    void shouldHaveAsManyTreesAsThePaper(int devices, int all, int unmixed, int recomputing) {
        assertEquals(all, Strategy.all(devices, true, false).size());
        assertEquals(unmixed, Strategy.all(devices, false, false).size());
        List<Strategy> doubled = Strategy.all(devices, false, true);
        assertEquals(recomputing, doubled.size());
        assertEquals(recomputing, new HashSet<>(doubled).size());
        for (Strategy strategy : doubled) {
            int product = strategy.levels().stream().mapToInt(Strategy.Level::degree).reduce(strategy.pipeline(),
                    (one, other) -> one * other);
            assertEquals(devices, product, strategy::toString);
        }
    }

    @Test
    void shouldNameEachLevelFromTheOutermost() {
        assertEquals(
                List.of("P1 DATA2", "P1 SHARDED_DATA2", "P1 TENSOR2", "P2"),
                Strategy.all(2, true, false).stream().map(Strategy::toString).toList());
        assertThrows(IllegalArgumentException.class, () -> Strategy.all(6, true, false));
    }

    @Test
    void shouldChooseForEachLayerAsBruteForceDoes() {
        Random drawn = new Random(5);
        int refused = 0;
        for (int draw = 0; draw < 10_000; draw++) {
            int layers = 1 + drawn.nextInt(6);
            int count = 1 + drawn.nextInt(layers > 4 ? 3 : 5);
            LayerStrategies problem = problem(drawn, layers, count);
            int budget = drawn.nextInt(5 * layers + 1);
            Optional<Choice> expected = bruteForce(problem, budget, new ArrayList<>(), 0, 0);
            assertEquals(expected, problem.within(budget), "draw " + draw);
            refused += expected.isEmpty() ? 1 : 0;
        }
        assertTrue(refused > 100 && refused < 5000, refused + " of 10000 fit no budget");
    }

    /** Small numbers, so that many choices are equal and the rule for ties counts. */
    private static LayerStrategies problem(Random drawn, int layers, int count) {
        long[][] nanos = new long[layers][count];
        int[][] memory = new int[layers][count];
        long[][][] transitions = new long[layers][count][count];
        for (int layer = 0; layer < layers; layer++) {
            for (int strategy = 0; strategy < count; strategy++) {
                nanos[layer][strategy] = drawn.nextInt(6);
                memory[layer][strategy] = 1 + drawn.nextInt(5);
                for (int before = 0; before < count; before++) {
                    transitions[layer][before][strategy] = before == strategy ? 0 : drawn.nextInt(4);
                }
            }
        }
        return new LayerStrategies(nanos, memory, transitions);
    }

    private static Optional<Choice> bruteForce(LayerStrategies problem, int left, List<Integer> chosen, long time,
            int layer) {
        if (left < 0) {
            return Optional.empty();
        }
        if (layer == problem.nanos().length) {
            return Optional.of(new Choice(chosen, time));
        }
        Optional<Choice> best = Optional.empty();
        for (int strategy = 0; strategy < problem.nanos()[layer].length; strategy++) {
            long transition = layer == 0 ? 0 : problem.transitionNanos()[layer][chosen.getLast()][strategy];
            List<Integer> longer = new ArrayList<>(chosen);
            longer.add(strategy);
            Optional<Choice> found = bruteForce(problem, left - problem.memory()[layer][strategy], longer,
                    time + problem.nanos()[layer][strategy] + transition, layer + 1);
            if (found.isPresent() && (best.isEmpty() || found.get().nanos() < best.get().nanos())) {
                best = found;
            }
        }
        return best;
    }
}
