package dev.troupe.schedule.search;

import java.util.ArrayList;
import java.util.List;

/**
 * The partition of a model into stages with replicas on a hierarchy of machines, by dynamic programming from the
 * innermost level outwards: A(i..j, m), the time a microbatch of the slowest part of the layers i..j on m units of a
 * level, is the least of T(i..j, m) and, over s and m', of max(A(i..s, m-m'), 2 output(s) / B, T(s+1..j, m')). T is one
 * stage on m replicas: the time of its layers on one unit, which is A of the level within with all its units, and of the
 * sums of its gradients, 4 (m-1) / m weights / B, both over m. All units of every level are used. Of equal partitions it
 * takes the one that it finds first: one stage before several. Time: levels x layers^3 x units^2.
 *
 * <p>Source: Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, 2019, section 3.1. The
 * paper takes the longer of a stage's computing and sums, the released optimizer both together, and leaves out 2 output
 * / B. Memory is not part of the program: the plan of the result has a certificate and a price in bytes.
 *
 * @param layers the layers, in order
 * @param levels the levels, from the innermost
 * @param sumsOverlap whether sums of gradients travel while a stage computes, as in the paper; if not, they follow
 */
public record HierarchicalPartition(List<Layer> layers, List<Level> levels, boolean sumsOverlap) {
    public HierarchicalPartition {
        layers = List.copyOf(layers);
        levels = List.copyOf(levels);
    }

    /** A layer: the time of its forward and backward for one microbatch, and its sizes. */
    public record Layer(double seconds, long outputBytes, long weightBytes) {
    }

    /** A level of the hierarchy: units in one unit of the next level, and the bandwidth between them. */
    public record Level(int units, double bytesPerSecond) {
    }

    /**
     * A stage on replicas, and its partition over the units within each replica; empty if these are single machines.
     *
     * @param first its first layer
     * @param end the layer after its last
     */
    public record Stage(int first, int end, int replicas, List<Stage> within) {
        public Stage {
            within = List.copyOf(within);
        }

        /** Returns the number of its machines: its replicas times the machines of the stages within each. */
        public int machines() {
            return replicas * Math.max(1, within.stream().mapToInt(Stage::machines).sum());
        }
    }

    /**
     * The result.
     *
     * @param seconds the time a microbatch of the slowest stage or link
     * @param stages the stages of the outermost level
     */
    public record Result(double seconds, List<Stage> stages) {
        public Result {
            stages = List.copyOf(stages);
        }
    }

    /** Returns the best partition of all layers over all machines. */
    public Result best() {
        Result[][] whole = single();
        for (Level level : levels) {
            whole = new Program(level, whole).run();
        }
        return whole[0][layers.size()];
    }

    /** Returns by first layer and end the time on one machine. */
    private Result[][] single() {
        int count = layers.size();
        Result[][] whole = new Result[count][count + 1];
        for (int first = 0; first < count; first++) {
            double seconds = 0;
            for (int end = first + 1; end <= count; end++) {
                seconds += layers.get(end - 1).seconds();
                whole[first][end] = new Result(seconds, List.of());
            }
        }
        return whole;
    }

    /** Returns the time of layers as one stage on some units of a level, given their time on one unit. */
    double stageSeconds(Level level, double unitSeconds, int first, int end, int replicas) {
        long weights = layers.subList(first, end).stream().mapToLong(Layer::weightBytes).sum();
        double sums = 4.0 * (replicas - 1) / replicas * weights / level.bytesPerSecond();
        return (sumsOverlap ? Math.max(unitSeconds, sums) : unitSeconds + sums) / replicas;
    }

    /** Returns the time of the activations and gradients of a layer between two stages of a level. */
    double linkSeconds(Level level, int layer) {
        return 2.0 * layers.get(layer).outputBytes() / level.bytesPerSecond();
    }

    /** The program of one level. */
    private final class Program {
        private final Level level;
        private final Result[][] unit;

        Program(Level level, Result[][] unit) {
            this.level = level;
            this.unit = unit;
        }

        Result[][] run() {
            int count = layers.size();
            Result[][] whole = new Result[count][count + 1];
            for (int first = 0; first < count; first++) {
                Result[][] best = new Result[count + 1][level.units() + 1];
                for (int end = first + 1; end <= count; end++) {
                    for (int units = 1; units <= level.units(); units++) {
                        best[end][units] = best(best, first, end, units);
                    }
                    whole[first][end] = best[end][level.units()];
                }
            }
            return whole;
        }

        private Result best(Result[][] best, int first, int end, int units) {
            Result least = new Result(seconds(first, end, units), List.of(stage(first, end, units)));
            for (int split = first + 1; split < end; split++) {
                double link = linkSeconds(level, split - 1);
                for (int last = 1; last < units; last++) {
                    Result before = best[split][units - last];
                    double seconds = Math.max(Math.max(before.seconds(), link), seconds(split, end, last));
                    if (seconds < least.seconds()) {
                        List<Stage> stages = new ArrayList<>(before.stages());
                        stages.add(stage(split, end, last));
                        least = new Result(seconds, stages);
                    }
                }
            }
            return least;
        }

        private double seconds(int first, int end, int replicas) {
            return stageSeconds(level, unit[first][end].seconds(), first, end, replicas);
        }

        private Stage stage(int first, int end, int replicas) {
            return new Stage(first, end, replicas, unit[first][end].stages());
        }
    }
}
