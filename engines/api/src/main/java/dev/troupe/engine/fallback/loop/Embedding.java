package dev.troupe.engine.fallback.loop;

import dev.troupe.engine.Engine;

/** Token plus position embedding. Letters: N rows, T sequence length, C hidden size, V vocabulary size. */
public final class Embedding {
    private Embedding() {
    }

    /** tokens [N], tokenTable [V x C], positionTable [at least T x C] or null, y [N x C]. */
    public static void forward(int[] tokens, double[] tokenTable, double[] positionTable, int t, double[] y, int c) {
        for (int row = 0; row < tokens.length; row++) {
            for (int j = 0; j < c; j++) {
                double token = tokens[row] == Engine.NOT_IN_SHARD ? 0 : tokenTable[tokens[row] * c + j];
                y[row * c + j] = positionTable == null ? token : token + positionTable[row % t * c + j];
            }
        }
    }

    /** dTokenTable [V x C] and dPositionTable [at least T x C], or null, += the rows of dy [N x C] that read them. */
    public static void backward(int[] tokens, double[] dy, int t, double[] dTokenTable, double[] dPositionTable,
            int c) {
        for (int row = 0; row < tokens.length; row++) {
            for (int j = 0; j < c; j++) {
                if (tokens[row] != Engine.NOT_IN_SHARD) {
                    dTokenTable[tokens[row] * c + j] += dy[row * c + j];
                }
                if (dPositionTable != null) {
                    dPositionTable[row % t * c + j] += dy[row * c + j];
                }
            }
        }
    }
}
