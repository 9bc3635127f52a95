package dev.troupe.stage;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.ExpertLoads;
import dev.troupe.layer.MicrobatchContext;
import java.util.function.UnaryOperator;

/**
 * The input of a stage: the activations and gradients of its neighbours, and at the ends of the model token ids and targets.
 *
 * @param loads the loads of experts, in the tensors from and to neighbours
 * @param upload brings token ids to the engine; closed with the border
 * @param measures gets the measures of experts
 * @param separatesDocuments whether a row may hold several documents
 */
record Border(int stage, LoadCarrier loads, StageLayers layers, TokenUpload upload, Measures measures,
        boolean separatesDocuments) implements AutoCloseable {
    /**
     * Returns the length of a microbatch's sequences by its input; the longest if the input is invalid, which is refused
     * later.
     */
    int lengthOf(Tensor activation, MicrobatchRows rows) {
        return layers.embedding() != null
                ? upload.lengthOf(rows)
                : loads.lengthOf(activation == null ? 0 : activation.shape().size(0));
    }

    /**
     * Runs the forward of a microbatch, from the neighbour's activation, or the tokens on the first stage.
     *
     * @param counts whether the loads of experts count, as in training
     * @return the activation for the next stage; null on the last
     */
    Tensor forward(StageTape tape, int microbatch, Tensor activation, MicrobatchRows rows, DropoutKey key, int length,
            boolean counts) {
        boolean isFirst = layers.embedding() != null;
        check("an input", microbatch, length, activation, !isFirst);
        ExpertLoads counted = counts ? loads.begin(activation) : null;
        Tensor input = isFirst ? upload.tokens(rows.inputs(), length) : loads.without(activation, length);
        MicrobatchContext context = enter(tape, rows, length, key, counted);
        Tensor output = loads.withLoads(counts ? tape.forward(input, context) : tape.forwardOnly(input, context),
                length,
                counted);
        if (layers.head() != null && counted != null) {
            measures.experts(microbatch, loads.end(counted, length, layers.head().lossScale()));
        }
        return output;
    }

    /** Gives the targets to the head, if the stage has it, and returns the context of the microbatch for all layers. */
    private MicrobatchContext enter(StageTape tape, MicrobatchRows rows, int length, DropoutKey key,
            ExpertLoads counted) {
        if (layers.head() != null) {
            tape.predict(upload.targets(rows.targets(), length), rows.targetsPerMicrobatch());
        }
        return new MicrobatchContext(length, key, separatesDocuments ? upload.starts(rows.starts(), length) : null,
                null,
                counted);
    }

    /**
     * Runs a backward of a microbatch, from the gradient of the next stage; the last stage has none.
     *
     * @return the gradient for the stage before; null on the first
     */
    Tensor backward(StageTape tape, int microbatch, Tensor gradient, UnaryOperator<Tensor> backward) {
        int length = tape.length();
        check("a gradient", microbatch, length, gradient, layers.head() == null);
        ExpertLoads counted = tape.loads();
        if (counted != null) {
            loads.beginBackward(counted, gradient);
        }
        return loads.withGradient(backward.apply(loads.without(gradient, length)), length, counted);
    }

    private void check(String what, int microbatch, int length, Tensor tensor, boolean expected) {
        Shape shape = loads.boundary().of(length);
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
