package dev.troupe.engine.fallback.loop;

import dev.troupe.engine.Dropout;
import java.util.Arrays;

/**
 * Causal attention of all heads (Vaswani et al. 2017, section 3.2); heads may share keys and values (Ainslie et al. 2023),
 * and a document attends only to itself. Letters: B microbatch size, T sequence length, H heads, D size of a head, N = B T
 * rows.
 *
 * <p>Kept for the backward: the probabilities [B x H x T x T], zero for keys that a query does not see.
 */
public final class CausalAttention {
    private final int b;
    private final int t;
    private final int heads;
    private final int d;
    private final double scale;
    private final Heads queries;
    private final Heads keys;
    private final Heads values;
    /** The place in its sequence at which each row's document begins; null if each sequence is one document. */
    private final int[] starts;

    /**
     * Neighbouring heads in some columns of a matrix.
     *
     * @param first the first column of the first head
     * @param sharing the number of heads of queries for each of these heads
     */
    public record Heads(double[] elements, int columns, int first, int sharing) {
    }

    public CausalAttention(int b, int t, int heads, int d, Heads queries, Heads keys, Heads values, int[] starts) {
        this.b = b;
        this.t = t;
        this.heads = heads;
        this.d = d;
        this.scale = 1 / Math.sqrt(d);
        this.queries = queries;
        this.keys = keys;
        this.values = values;
        this.starts = starts;
    }

    /** y [N x H D] = dropout(softmax(scale q k^T)) v, with keys up to the query's own place. */
    public void forward(Dropout dropout, double[] probabilities, double[] y) {
        Dropout.Reader reader = dropout.reader();
        Arrays.fill(y, 0.0);
        Arrays.fill(probabilities, 0.0);
        for (int sequence = 0; sequence < b; sequence++) {
            for (int head = 0; head < heads; head++) {
                for (int i = 0; i < t; i++) {
                    int row = probabilityRow(sequence, head, i);
                    softmaxOfScores(at(queries, sequence, head, i), sequence, head, i, probabilities, row);
                    int out = ((sequence * t + i) * heads + head) * d;
                    long place = dropout.placeInAttention(sequence, head, i, t);
                    for (int j = start(sequence, i); j <= i; j++) {
                        addScaled(probabilities[row + j] * reader.factor(place + j), values.elements,
                                at(values, sequence, head, j), y, out);
                    }
                }
            }
        }
    }

    /** The last rows of {@link #forward} of one sequence, with queries of these rows alone: y [rows x H D]. */
    public void last(int rows, double[] y) {
        Arrays.fill(y, 0.0);
        double[] probabilities = new double[t];
        for (int row = 0; row < rows; row++) {
            int place = t - rows + row;
            for (int head = 0; head < heads; head++) {
                softmaxOfScores(at(queries, 0, head, row), 0, head, place, probabilities, 0);
                for (int j = 0; j <= place; j++) {
                    addScaled(probabilities[j], values.elements, at(values, 0, head, j), y, (row * heads + head) * d);
                }
            }
        }
    }

    /** The gradients of queries, keys and values, in the layout of these, from dy [N x H D]. */
    public void backward(double[] dy, double[] probabilities, Dropout dropout, double[] dQueries, double[] dKeys,
            double[] dValues) {
        Dropout.Reader reader = dropout.reader();
        Arrays.fill(dQueries, 0.0);
        Arrays.fill(dKeys, 0.0);
        Arrays.fill(dValues, 0.0);
        double[] dProbability = new double[t];
        for (int sequence = 0; sequence < b; sequence++) {
            for (int head = 0; head < heads; head++) {
                for (int i = 0; i < t; i++) {
                    int row = probabilityRow(sequence, head, i);
                    int dOut = ((sequence * t + i) * heads + head) * d;
                    double mean = 0;
                    long place = dropout.placeInAttention(sequence, head, i, t);
                    for (int j = start(sequence, i); j <= i; j++) {
                        double factor = reader.factor(place + j);
                        int value = at(values, sequence, head, j);
                        dProbability[j] = factor * dot(dy, dOut, values.elements, value);
                        mean += probabilities[row + j] * dProbability[j];
                        addScaled(factor * probabilities[row + j], dy, dOut, dValues, value);
                    }
                    int query = at(queries, sequence, head, i);
                    for (int j = start(sequence, i); j <= i; j++) {
                        double dScore = scale * probabilities[row + j] * (dProbability[j] - mean);
                        int key = at(keys, sequence, head, j);
                        addScaled(dScore, keys.elements, key, dQueries, query);
                        addScaled(dScore, queries.elements, query, dKeys, key);
                    }
                }
            }
        }
    }

    private void softmaxOfScores(int query, int sequence, int head, int i, double[] probabilities, int row) {
        double highest = Double.NEGATIVE_INFINITY;
        int start = start(sequence, i);
        for (int j = start; j <= i; j++) {
            double score = scale * dot(queries.elements, query, keys.elements, at(keys, sequence, head, j));
            probabilities[row + j] = score;
            highest = Math.max(highest, score);
        }
        double sum = 0;
        for (int j = start; j <= i; j++) {
            // Subtracting the highest score keeps exponentials from overflowing.
            double exponential = StrictMath.exp(probabilities[row + j] - highest);
            probabilities[row + j] = exponential;
            sum += exponential;
        }
        for (int j = start; j <= i; j++) {
            probabilities[row + j] /= sum;
        }
    }

    private int start(int sequence, int place) {
        return starts == null ? 0 : starts[sequence * t + place];
    }

    private int probabilityRow(int sequence, int head, int i) {
        return ((sequence * heads + head) * t + i) * t;
    }

    private int at(Heads these, int sequence, int head, int place) {
        return (sequence * t + place) * these.columns + these.first + head / these.sharing * d;
    }

    private double dot(double[] left, int leftAt, double[] right, int rightAt) {
        double sum = 0;
        for (int j = 0; j < d; j++) {
            sum += left[leftAt + j] * right[rightAt + j];
        }
        return sum;
    }

    private void addScaled(double factor, double[] source, int sourceAt, double[] target, int targetAt) {
        for (int j = 0; j < d; j++) {
            target[targetAt + j] += factor * source[sourceAt + j];
        }
    }
}
