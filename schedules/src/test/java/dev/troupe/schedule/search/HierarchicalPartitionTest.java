package dev.troupe.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.schedule.search.HierarchicalPartition.Layer;
import dev.troupe.schedule.search.HierarchicalPartition.Level;
import dev.troupe.schedule.search.HierarchicalPartition.Result;
import dev.troupe.schedule.search.HierarchicalPartition.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class HierarchicalPartitionTest {
    @Test
    void shouldFindWhatBruteForceFinds() {
        Random drawn = new Random(3);
        for (int draw = 0; draw < 600; draw++) {
            HierarchicalPartition problem = problem(drawn);
            Result found = problem.best();
            int count = problem.layers().size();
            double expected = bruteForce(problem, problem.levels().size() - 1, 0, count);
            assertEquals(expected, found.seconds(), 1e-12 * expected, problem::toString);
            assertEquals(expected, price(problem, problem.levels().size() - 1, found.stages()), 1e-12 * expected,
                    problem::toString);
            assertEquals(problem.levels().stream().mapToInt(Level::units).reduce(1, (one, other) -> one * other),
                    found.stages().stream().mapToInt(Stage::machines).sum());
        }
    }

    private static HierarchicalPartition problem(Random drawn) {
        List<Layer> layers = new ArrayList<>();
        int count = 1 + drawn.nextInt(5);
        for (int layer = 0; layer < count; layer++) {
            layers.add(new Layer(1 + drawn.nextInt(9), drawn.nextInt(8), drawn.nextInt(12)));
        }
        List<Level> levels = new ArrayList<>();
        int depth = 1 + drawn.nextInt(2);
        for (int level = 0; level < depth; level++) {
            levels.add(new Level(1 + drawn.nextInt(4), (1 + drawn.nextInt(8)) / (1.0 + level)));
        }
        return new HierarchicalPartition(layers, levels, drawn.nextBoolean());
    }

    /** Tries every row of stages with every number of replicas, again for each stage of each level. */
    private static double bruteForce(HierarchicalPartition problem, int level, int first, int end) {
        if (level < 0) {
            return problem.layers().subList(first, end).stream().mapToDouble(Layer::seconds).sum();
        }
        return tryAll(problem, level, first, end, problem.levels().get(level).units());
    }

    private static double tryAll(HierarchicalPartition problem, int level, int first, int end, int units) {
        Level here = problem.levels().get(level);
        double least = Double.POSITIVE_INFINITY;
        for (int split = first + 1; split <= end; split++) {
            double unit = bruteForce(problem, level - 1, first, split);
            for (int replicas = 1; replicas <= units; replicas++) {
                boolean isLast = split == end;
                if (isLast != (replicas == units)) {
                    continue; // a last stage takes all units that are left, and no other one does
                }
                double stage = problem.stageSeconds(here, unit, first, split, replicas);
                double rest = isLast
                        ? 0
                        : Math.max(problem.linkSeconds(here, split - 1),
                                tryAll(problem, level, split, end, units - replicas));
                least = Math.min(least, Math.max(stage, rest));
            }
        }
        return least;
    }

    private static double price(HierarchicalPartition problem, int level, List<Stage> stages) {
        Level here = problem.levels().get(level);
        double slowest = 0;
        for (Stage stage : stages) {
            double unit = level == 0
                    ? bruteForce(problem, -1, stage.first(), stage.end())
                    : price(problem, level - 1, stage.within());
            slowest = Math.max(slowest,
                    problem.stageSeconds(here, unit, stage.first(), stage.end(), stage.replicas()));
            if (stage != stages.getFirst()) {
                slowest = Math.max(slowest, problem.linkSeconds(here, stage.first() - 1));
            }
        }
        return slowest;
    }

    @Test
    void shouldReplicateCheapWeightsAndNotHeavyOnes() {
        // Convolutions first: much to compute, few weights; then a layer of heavy weights, which stays on one machine.
        List<Layer> layers = List.of(new Layer(6, 1, 0), new Layer(6, 1, 0), new Layer(4, 1, 1_000_000));
        Result found = new HierarchicalPartition(layers, List.of(new Level(4, 1000)), true).best();
        assertEquals(4, found.seconds());
        assertEquals(List.of(new Stage(0, 2, 3, List.of()), new Stage(2, 3, 1, List.of())), found.stages());
    }
}
