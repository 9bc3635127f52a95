package dev.troupe.engine.nd4j;

import dev.troupe.engine.nd4j.Scratch.Slot;
import org.nd4j.linalg.api.ndarray.INDArray;

/** Token plus position embedding. Letters: N rows, T sequence length, C hidden size, V vocabulary size. */
final class Embedding {
    private final Operations operations;
    private final Scratch scratch;

    Embedding(Operations operations, Scratch scratch) {
        this.operations = operations;
        this.scratch = scratch;
    }

    /** tokens [N], tokenTable [V x C], positionTable [at least T x C] or null, y [N x C]. */
    void forward(Nd4jTensor tokens, Nd4jTensor tokenTable, Nd4jTensor positionTable, int t, Nd4jTensor y) {
        int n = y.size(0);
        ShardIds ids = ShardIds.of(tokens, scratch);
        operations.gather(tokenTable.matrix(), ids.rows(), y.matrix());
        if (ids.weights() != null) {
            operations.multiply(y.matrix(), ids.weights().matrix(n, 1), y.matrix());
        }
        if (positionTable != null) {
            long sequenceElements = (long) t * y.size(1);
            INDArray bySequence = y.views().matrix(n / t, sequenceElements);
            operations.add(bySequence, positionTable.views().matrix(1, sequenceElements), bySequence);
        }
    }

    /** dTokenTable [V x C] and dPositionTable [at least T x C], or null, += the rows of dy [N x C] that read them. */
    void backward(Nd4jTensor tokens, Nd4jTensor dy, int t, Nd4jTensor dTokenTable, Nd4jTensor dPositionTable) {
        int n = dy.size(0);
        int c = dy.size(1);
        ShardIds ids = ShardIds.of(tokens, scratch);
        INDArray updates = dy.matrix();
        if (ids.weights() != null) {
            updates = scratch.slot(Slot.FIRST, (long) n * c).matrix(n, c);
            operations.multiply(dy.matrix(), ids.weights().matrix(n, 1), updates);
        }
        operations.scatterAdd(dTokenTable.matrix(), ids.rows(), updates);
        if (dPositionTable == null) {
            return;
        }
        long sequenceElements = (long) t * c;
        INDArray used = dPositionTable.views().vector(sequenceElements);
        for (int sequence = 0; sequence < n / t; sequence++) {
            operations.add(used, dy.views().view(sequence * sequenceElements, sequenceElements, 0, 1, 0), used);
        }
    }
}
