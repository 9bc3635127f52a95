package dev.troupe.stage;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.TensorPool;

/**
 * The input of a stage: the activations and gradients of its neighbours, and at the ends of the model token ids and targets.
 *
 * @param stage the stage's index
 * @param extent the shapes of every tensor from or to a neighbour
 * @param upload brings token ids to the engine; closed with the border
 * @param separatesDocuments whether a row may hold several documents
 */
record Border(int stage, TensorPool.Extent extent, StageLayers layers, TokenUpload upload,
        boolean separatesDocuments) implements AutoCloseable {
    /**
     * Returns the length of a microbatch's sequences by its input; the longest if the input is invalid, which is refused
     * later.
     */
    int lengthOf(Tensor activation, MicrobatchRows rows) {
        return layers.embedding() != null
                ? upload.lengthOf(rows)
                : extent.lengthOf(activation == null ? 0 : activation.shape().size(0));
    }

    /** Returns the input of the stage's first layer: the neighbour's activation, or the tokens on the first stage. */
    Tensor input(int microbatch, int length, Tensor activation, MicrobatchRows rows) {
        boolean isFirst = layers.embedding() != null;
        check("an input", microbatch, length, activation, !isFirst);
        return isFirst ? upload.tokens(rows.inputs(), length) : activation;
    }

    /** Gives the targets to the head, if the stage has it, and returns the context of the microbatch for all layers. */
    MicrobatchContext enter(StageTape tape, MicrobatchRows rows, int length, DropoutKey key) {
        if (layers.head() != null) {
            tape.predict(upload.targets(rows.targets(), length), rows.targetsPerMicrobatch());
        }
        return new MicrobatchContext(length, key, separatesDocuments ? upload.starts(rows.starts(), length) : null);
    }

    /** Checks the gradient of the next stage; the last stage has none. */
    void checkGradient(int microbatch, int length, Tensor gradient) {
        check("a gradient", microbatch, length, gradient, layers.head() == null);
    }

    private void check(String what, int microbatch, int length, Tensor tensor, boolean expected) {
        Shape shape = extent.of(length);
        if (expected && tensor != null && tensor.shape().equals(shape)) {
            return;
        }
        if (expected || tensor != null) {
            throw new IllegalArgumentException("stage " + stage + " expects "
                    + (expected ? what + " of shape " + shape : "nothing") + " from its neighbour for microbatch "
                    + microbatch + ", but found " + (tensor == null ? "none" : what + " of shape " + tensor.shape()));
        }
    }

    @Override
    public void close() {
        upload.close();
    }
}
