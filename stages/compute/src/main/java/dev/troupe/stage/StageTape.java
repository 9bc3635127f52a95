package dev.troupe.stage;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.Tape;
import dev.troupe.layer.TensorPool;
import dev.troupe.shard.LayerShares;
import java.util.List;

/** The way of one microbatch through all layers of a stage. */
final class StageTape {
    private final List<Tape> tapes;
    private final Recompute recompute;
    private final LayerShares shares;
    private final HeadLayer.Pass head;
    /** Of the microbatch under way; null where none separates documents. */
    private Tensor starts;
    private int length;
    private boolean inputGradientDone;

    StageTape(List<Tape> tapes, Recompute recompute, LayerShares shares) {
        this.tapes = tapes;
        this.recompute = recompute;
        this.shares = shares;
        this.head = tapes.getLast() instanceof HeadLayer.Pass pass ? pass : null;
    }

    /** Null where another stage has the head. */
    HeadLayer.Pass head() {
        return head;
    }

    /** Tokens of each sequence of the microbatch that is under way. */
    int length() {
        return length;
    }

    boolean inputGradientDone() {
        return inputGradientDone;
    }

    Tensor forward(Tensor input, MicrobatchContext microbatch) {
        begin(microbatch);
        Tensor x = input;
        for (int layer = 0; layer < tapes.size(); layer++) {
            shares.beginForward(layer);
            x = tapes.get(layer).forward(x, microbatch);
            recompute.afterForward(tapes.get(layer));
            shares.endForward(layer);
        }
        return x;
    }

    private void begin(MicrobatchContext microbatch) {
        starts = microbatch.starts();
        length = microbatch.length();
    }

    /** Lets go of each layer's activations before the next layer runs. */
    Tensor forwardOnly(Tensor input, MicrobatchContext microbatch) {
        begin(microbatch);
        Tensor x = input;
        for (int layer = 0; layer < tapes.size(); layer++) {
            shares.beginForward(layer);
            x = tapes.get(layer).forward(x, microbatch);
            tapes.get(layer).release();
            shares.endForward(layer);
        }
        return x;
    }

    /** Gives back what all layers had of the microbatch, after its last backward. */
    void end(TensorPool pool) {
        starts = pool.drop(starts);
    }

    Tensor backwardInput(Tensor outputGradient) {
        Tensor dy = outputGradient;
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            shares.beginBackward(layer);
            dy = backwardInput(tapes.get(layer), dy);
            shares.endBackward(layer);
        }
        inputGradientDone = true;
        return dy;
    }

    /** Both backwards layer by layer, so that what stands between the two is one layer's. */
    Tensor backward(Tensor outputGradient) {
        Tensor dy = outputGradient;
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            shares.beginBackward(layer);
            dy = backwardInput(tapes.get(layer), dy);
            tapes.get(layer).backwardWeight();
            shares.endBackward(layer);
            shares.addUp(layer);
        }
        return dy;
    }

    private Tensor backwardInput(Tape tape, Tensor dy) {
        recompute.beforeBackward(tape);
        return tape.backwardInput(dy);
    }

    void backwardWeight() {
        boolean readsWeights = recompute.readsWeightsLate();
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            if (readsWeights) {
                shares.beginBackward(layer);
            }
            tapes.get(layer).backwardWeight();
            if (readsWeights) {
                shares.endBackward(layer);
            }
            shares.addUp(layer);
        }
        inputGradientDone = false;
    }
}
