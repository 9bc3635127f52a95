package dev.troupe.partition;

import dev.troupe.model.ModelSpec;
import java.util.ArrayList;
import java.util.List;

/** The split of layers that minimizes the largest stage's number of parameters. */
final class ParameterBalance {
    private ParameterBalance() {
    }

    static List<LayerRange> split(ModelSpec model, int stageCount) {
        int layers = model.layers().size();
        long[] before = new long[layers + 1];
        for (int layer = 0; layer < layers; layer++) {
            before[layer + 1] = before[layer] + model.layers().get(layer).parameterCount();
        }
        return evenest(before, stageCount, smallestMaximum(before, stageCount));
    }

    /**
     * Returns the smallest possible size of the largest stage; {@code before[k]} is the size of all layers before layer k.
     */
    private static long smallestMaximum(long[] before, int stageCount) {
        int layers = before.length - 1;
        // best[k]: the best result for layers k and after with the stages so far.
        long[] best = new long[layers + 1];
        for (int first = 0; first <= layers; first++) {
            best[first] = before[layers] - before[first];
        }
        for (int stages = 2; stages <= stageCount; stages++) {
            long[] wider = new long[layers + 1];
            for (int first = 0; first <= layers - stages; first++) {
                long smallest = Long.MAX_VALUE;
                for (int next = first + 1; next <= layers - stages + 1; next++) {
                    smallest = Math.min(smallest, Math.max(before[next] - before[first], best[next]));
                }
                wider[first] = smallest;
            }
            best = wider;
        }
        return best[0];
    }

    /** Returns the split with the smallest sum of squares among those with all stages within the bound. */
    private static List<LayerRange> evenest(long[] before, int stageCount, long bound) {
        int layers = before.length - 1;
        // cost[s][k]: the lowest cost of layers k and after in s stages; end[s][k]: the end of the first of these stages.
        double[][] cost = new double[stageCount + 1][layers + 1];
        int[][] end = new int[stageCount + 1][layers + 1];
        for (int stages = 0; stages <= stageCount; stages++) {
            for (int first = 0; first <= layers; first++) {
                cost[stages][first] = stages == 0 && first == layers ? 0 : Double.POSITIVE_INFINITY;
                for (int next = first + 1; stages > 0 && next <= layers; next++) {
                    double size = before[next] - before[first];
                    double total = size * size + cost[stages - 1][next];
                    // Not "<": of equal splits the later end wins, so that the first stages have more layers.
                    if (size <= bound && total <= cost[stages][first]) {
                        cost[stages][first] = total;
                        end[stages][first] = next;
                    }
                }
            }
        }
        List<LayerRange> ranges = new ArrayList<>();
        int first = 0;
        for (int stages = stageCount; stages > 0; stages--) {
            int next = end[stages][first];
            ranges.add(new LayerRange(first, next - 1));
            first = next;
        }
        return ranges;
    }
}
