package dev.troupe.engine.reference;

/** Token plus position embedding. Letters: N rows, T sequence length, C hidden size, V vocabulary size. */
final class Embedding {
    private Embedding() {
    }

    /** tokens [N], tokenTable [V x C], positionTable [at least T x C], y [N x C]. */
    static void forward(int[] tokens, double[] tokenTable, double[] positionTable, int t, double[] y, int c) {
        for (int row = 0; row < tokens.length; row++) {
            int token = tokens[row] * c;
            int position = row % t * c;
            for (int j = 0; j < c; j++) {
                y[row * c + j] = tokenTable[token + j] + positionTable[position + j];
            }
        }
    }

    /** dTokenTable [V x C] and dPositionTable [at least T x C] += the rows of dy [N x C] that read them. */
    static void backward(int[] tokens, double[] dy, int t, double[] dTokenTable, double[] dPositionTable, int c) {
        for (int row = 0; row < tokens.length; row++) {
            int token = tokens[row] * c;
            int position = row % t * c;
            for (int j = 0; j < c; j++) {
                dTokenTable[token + j] += dy[row * c + j];
                dPositionTable[position + j] += dy[row * c + j];
            }
        }
    }
}
