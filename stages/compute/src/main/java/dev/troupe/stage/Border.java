package dev.troupe.stage;

import dev.troupe.engine.Shape;
import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Tensor;

/**
 * What goes into a stage: the activations and gradients of its neighbours, and at the ends of the model token ids and
 * targets.
 *
 * @param stage
 *            the stage's index
 * @param shape
 *            the shape of every tensor from or to a neighbour
 * @param upload
 *            brings token ids to the engine; closed with the border
 * @param separatesDocuments
 *            whether a row may hold several documents
 */
record Border(int stage, Shape shape, StageLayers layers, TokenUpload upload,
        boolean separatesDocuments) implements AutoCloseable {
    /** Returns the input of the stage's first layer: the neighbour's activation, or the tokens on the first stage. */
    Tensor input(int microbatch, Tensor activation, MicrobatchRows rows) {
        boolean isFirst = layers.embedding() != null;
        check("an input", microbatch, activation, !isFirst);
        return isFirst ? upload.tokens(rows.inputs()) : activation;
    }

    /** Gives the head its targets, where the stage has the head. */
    void predict(StageTape tape, MicrobatchRows rows) {
        if (layers.head() != null) {
            tape.head().predict(upload.targets(rows.targets()), rows.targetsPerMicrobatch());
        }
    }

    /** Returns the starts of documents where rows hold several, otherwise null. */
    Tensor starts(MicrobatchRows rows) {
        return separatesDocuments ? upload.starts(rows.starts()) : null;
    }

    /** Checks the gradient of the next stage; the last stage has none. */
    void checkGradient(int microbatch, Tensor gradient) {
        check("a gradient", microbatch, gradient, layers.head() == null);
    }

    private void check(String what, int microbatch, Tensor tensor, boolean expected) {
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
