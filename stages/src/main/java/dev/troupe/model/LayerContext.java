package dev.troupe.model;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.model.spec.ModelConfig;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.TensorSlice;

/**
 * What the layers of a stage share.
 *
 * @param engine
 *            where they compute
 * @param pool
 *            where their activations come from
 * @param model
 *            the model's shape
 * @param microbatchSize
 *            B
 * @param sequenceLength
 *            T of this run, at most the model's
 * @param share
 *            what of the stage is this rank's
 */
record LayerContext(Engine engine, TensorPool pool, ModelConfig model, int microbatchSize, int sequenceLength,
        TensorShare share) {
    /** Rows of an activation: N = B T. */
    int rows() {
        return Math.multiplyExact(microbatchSize, sequenceLength);
    }

    /** The shape of an activation of this width. */
    Shape activation(int width) {
        return Shape.of(rows(), width);
    }

    /** A width that the ranks of the group share out evenly, as this rank has it. */
    int own(int width) {
        return width / share.group().size();
    }

    /** A parameter of which this rank has some rows, the first dimension. */
    Parameter byRows(String name, int... sizes) {
        return Parameter.of(name, TensorSlice.share(Shape.of(sizes), 0, 1, share.group()));
    }

    /**
     * A parameter of which this rank has some columns, the last dimension.
     *
     * @param pieces
     *            how many pieces stand side by side in that dimension, each of which is shared out
     */
    Parameter byColumns(String name, int pieces, int... sizes) {
        return Parameter.of(name, TensorSlice.share(Shape.of(sizes), sizes.length - 1, pieces, share.group()));
    }
}
