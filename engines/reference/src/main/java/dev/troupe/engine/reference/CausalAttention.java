package dev.troupe.engine.reference;

import dev.troupe.engine.Dropout;
import java.util.Arrays;

/**
 * Causal attention of all heads (Vaswani et al. 2017, section 3.2). Letters: B microbatch size, T sequence length, H
 * heads, C hidden size, D = C / H size of a head, N = B T rows.
 *
 * <p>A row of qkv [N x 3C] holds query, key and value; head h has columns h D .. (h+1) D of each. Kept for the backward:
 * the probabilities [B x H x T x T], zero above the diagonal.
 */
final class CausalAttention {
    private final int b;
    private final int t;
    private final int heads;
    private final int c;
    private final int d;
    private final double scale;

    CausalAttention(int b, int t, int heads, int c) {
        this.b = b;
        this.t = t;
        this.heads = heads;
        this.c = c;
        this.d = c / heads;
        this.scale = 1 / Math.sqrt(d);
    }

    /** y [N x C] = dropout(softmax(scale q k^T)) v, with keys up to the query's own place. */
    void forward(double[] qkv, Dropout dropout, double[] probabilities, double[] y) {
        Dropout.Reader reader = dropout.reader();
        Arrays.fill(y, 0.0);
        Arrays.fill(probabilities, 0.0);
        for (int sequence = 0; sequence < b; sequence++) {
            for (int head = 0; head < heads; head++) {
                for (int i = 0; i < t; i++) {
                    int row = probabilityRow(sequence, head, i);
                    softmaxOfScores(qkv, sequence, head, i, probabilities, row);
                    int out = (sequence * t + i) * c + head * d;
                    long place = dropout.placeInAttention(sequence, head, i, t);
                    for (int j = 0; j <= i; j++) {
                        addScaled(probabilities[row + j] * reader.factor(place + j), qkv, value(sequence, head, j), y,
                                out);
                    }
                }
            }
        }
    }

    /** dQkv [N x 3C] from dy [N x C]. */
    void backward(double[] dy, double[] qkv, double[] probabilities, Dropout dropout, double[] dQkv) {
        Dropout.Reader reader = dropout.reader();
        Arrays.fill(dQkv, 0.0);
        double[] dProbability = new double[t];
        for (int sequence = 0; sequence < b; sequence++) {
            for (int head = 0; head < heads; head++) {
                for (int i = 0; i < t; i++) {
                    int row = probabilityRow(sequence, head, i);
                    int dOut = (sequence * t + i) * c + head * d;
                    double mean = 0;
                    long place = dropout.placeInAttention(sequence, head, i, t);
                    for (int j = 0; j <= i; j++) {
                        double factor = reader.factor(place + j);
                        dProbability[j] = factor * dot(dy, dOut, qkv, value(sequence, head, j));
                        mean += probabilities[row + j] * dProbability[j];
                        addScaled(factor * probabilities[row + j], dy, dOut, dQkv, value(sequence, head, j));
                    }
                    for (int j = 0; j <= i; j++) {
                        double dScore = scale * probabilities[row + j] * (dProbability[j] - mean);
                        addScaled(dScore, qkv, key(sequence, head, j), dQkv, query(sequence, head, i));
                        addScaled(dScore, qkv, query(sequence, head, i), dQkv, key(sequence, head, j));
                    }
                }
            }
        }
    }

    private void softmaxOfScores(double[] qkv, int sequence, int head, int i, double[] probabilities, int row) {
        double highest = Double.NEGATIVE_INFINITY;
        for (int j = 0; j <= i; j++) {
            double score = scale * dot(qkv, query(sequence, head, i), qkv, key(sequence, head, j));
            probabilities[row + j] = score;
            highest = Math.max(highest, score);
        }
        double sum = 0;
        for (int j = 0; j <= i; j++) {
            // The highest score is taken off first so that no exponential overflows.
            double exponential = StrictMath.exp(probabilities[row + j] - highest);
            probabilities[row + j] = exponential;
            sum += exponential;
        }
        for (int j = 0; j <= i; j++) {
            probabilities[row + j] /= sum;
        }
    }

    private int probabilityRow(int sequence, int head, int i) {
        return ((sequence * heads + head) * t + i) * t;
    }

    private int query(int sequence, int head, int place) {
        return (sequence * t + place) * 3 * c + head * d;
    }

    private int key(int sequence, int head, int place) {
        return query(sequence, head, place) + c;
    }

    private int value(int sequence, int head, int place) {
        return query(sequence, head, place) + 2 * c;
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
