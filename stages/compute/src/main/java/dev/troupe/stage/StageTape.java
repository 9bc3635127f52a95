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
    private final StageLayers layers;
    private final List<Tape> tapes;
    private final Recompute recompute;
    private final LayerShares shares;
    /** Null where another stage has the head. */
    private final HeadLayer.Pass head;
    private final Measures measures;
    /** Of the microbatch under way; null where none separates documents. */
    private Tensor starts;
    private int length;
    private int number;
    private StageWatch watch;
    private boolean endsStep;
    private boolean inputGradientDone;

    StageTape(StageLayers layers, List<Tape> tapes, Recompute recompute, LayerShares shares, Measures measures) {
        this.layers = layers;
        this.tapes = tapes;
        this.recompute = recompute;
        this.shares = shares;
        this.measures = measures;
        this.head = tapes.getLast() instanceof HeadLayer.Pass pass ? pass : null;
    }

    /** Gives the head, which is here, what it is to predict; the loss goes to where losses are kept. */
    void predict(Tensor targets, double counted) {
        head.predict(targets, counted, measures.lossOf(number, counted), measures.index(number));
    }

    /** A microbatch is under way. */
    void begin(int microbatch, StageWatch watchedBy) {
        number = microbatch;
        watch = watchedBy;
    }

    /** Says whether the backward for the weights that follows is the step's last. */
    void endsStep(boolean isLast) {
        endsStep = isLast;
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
            if (x != null) {
                watch.activation(layers.range(layer).last(), number, x);
            }
            recompute.afterForward(tapes.get(layer));
            shares.endForward(layer);
        }
        return x;
    }

    private void begin(MicrobatchContext microbatch) {
        starts = microbatch.starts();
        length = microbatch.length();
    }

    /** Lets go of each layer's activations before the next layer runs, and tells nothing to the watch. */
    Tensor forwardOnly(Tensor input, MicrobatchContext microbatch) {
        begin(microbatch);
        watch = StageWatch.NONE;
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
            dy = backwardInput(layer, dy);
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
            dy = backwardInput(layer, dy);
            backwardWeight(layer);
            shares.endBackward(layer);
            shares.addUp(layer);
        }
        return dy;
    }

    private Tensor backwardInput(int layer, Tensor dy) {
        Tape tape = tapes.get(layer);
        recompute.beforeBackward(tape);
        Tensor dx = tape.backwardInput(dy);
        if (dx != null) {
            watch.inputGradient(layers.range(layer).first(), number, dx);
        }
        return dx;
    }

    private void backwardWeight(int layer) {
        tapes.get(layer).backwardWeight();
        if (endsStep) {
            watch.gradients(layers.range(layer), layers.trained(layer));
        }
    }

    void backwardWeight() {
        boolean readsWeights = recompute.readsWeightsLate();
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            if (readsWeights) {
                shares.beginBackward(layer);
            }
            backwardWeight(layer);
            if (readsWeights) {
                shares.endBackward(layer);
            }
            shares.addUp(layer);
        }
        inputGradientDone = false;
    }
}
