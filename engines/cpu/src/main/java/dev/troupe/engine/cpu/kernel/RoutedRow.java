package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.router.Router;

/**
 * A row on its way through a router, in arrays of one thread. Letters: E experts, k choices of a row. Tensors that are not
 * rows of an activation are addresses of floats or ints.
 */
public final class RoutedRow {
    private final double[] numbers;
    private final double[] scores;
    private final double[] vector;
    private final int[] chosen;
    private final double[] weights;

    public RoutedRow(int e, int k) {
        numbers = new double[e];
        scores = new double[e];
        vector = new double[e];
        chosen = new int[k];
        weights = new double[k];
    }

    public boolean fits(int e, int k) {
        return numbers.length == e && chosen.length == k;
    }

    /** Routes some rows: logits and scores [N x E], bias [E] or 0, chosen and weightsTo [N x k]. */
    public void forward(Router router, long logits, long bias, long scoresTo, long chosenTo, long weightsTo, int from,
            int rows) {
        int e = numbers.length;
        int k = chosen.length;
        read(bias, vector);
        for (int row = from; row < from + rows; row++) {
            read(logits + 4L * row * e, numbers);
            router.forward(numbers, bias == 0 ? null : vector, scores, chosen, weights);
            for (int expert = 0; expert < e; expert++) {
                Lanes.set(scoresTo + 4L * row * e, expert, (float) scores[expert]);
            }
            for (int choice = 0; choice < k; choice++) {
                Lanes.setInt(chosenTo, row * k + choice, chosen[choice]);
                Lanes.set(weightsTo, row * k + choice, (float) weights[choice]);
            }
        }
    }

    /**
     * The backward of some rows: scoresOf [N x E], chosenOf and dWeights [N x k], dScores [E] or 0, dLogits [N x E].
     *
     * @param scratch memory of E floats
     */
    public void backward(Router router, long scoresOf, long chosenOf, long dWeights, long dScores, CpuTensor dLogits,
            int from, int rows, long scratch) {
        int e = numbers.length;
        int k = chosen.length;
        read(dScores, vector);
        for (int row = from; row < from + rows; row++) {
            read(scoresOf + 4L * row * e, scores);
            read(dWeights + 4L * row * k, weights);
            for (int choice = 0; choice < k; choice++) {
                chosen[choice] = Lanes.getInt(chosenOf, row * k + choice);
            }
            router.backward(scores, chosen, weights, dScores == 0 ? null : vector, numbers);
            long to = dLogits.target((long) row * e, scratch);
            for (int expert = 0; expert < e; expert++) {
                Lanes.set(to, expert, (float) numbers[expert]);
            }
            dLogits.written((long) row * e, e, to);
        }
    }

    /** Reads as many floats as an array has; none from 0. */
    private static void read(long floats, double[] to) {
        for (int i = 0; floats != 0 && i < to.length; i++) {
            to[i] = Lanes.get(floats, i);
        }
    }
}
