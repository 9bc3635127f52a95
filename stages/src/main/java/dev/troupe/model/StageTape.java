package dev.troupe.model;

import dev.troupe.engine.Tensor;
import java.util.List;

/** The way of one microbatch through all layers of a stage. */
final class StageTape {
    private final List<Tape> tapes;
    private final Recompute recompute;
    private final HeadLayer.Pass head;
    private boolean inputGradientDone;

    StageTape(List<Tape> tapes, Recompute recompute) {
        this.tapes = tapes;
        this.recompute = recompute;
        this.head = tapes.getLast() instanceof HeadLayer.Pass pass ? pass : null;
    }

    /** Null where another stage has the head. */
    HeadLayer.Pass head() {
        return head;
    }

    boolean inputGradientDone() {
        return inputGradientDone;
    }

    Tensor forward(Tensor input, Draw draw) {
        Tensor x = input;
        for (Tape tape : tapes) {
            x = tape.forward(x, draw);
            recompute.afterForward(tape);
        }
        return x;
    }

    /** Lets go of each layer's activations before the next layer runs. */
    Tensor forwardOnly(Tensor input) {
        Tensor x = input;
        for (Tape tape : tapes) {
            x = tape.forward(x, Draw.NONE);
            tape.release();
        }
        return x;
    }

    Tensor backwardInput(Tensor outputGradient) {
        Tensor dy = outputGradient;
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            dy = backwardInput(tapes.get(layer), dy);
        }
        inputGradientDone = true;
        return dy;
    }

    /** Both backwards layer by layer, so that what stands between the two is one layer's. */
    Tensor backward(Tensor outputGradient) {
        Tensor dy = outputGradient;
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            dy = backwardInput(tapes.get(layer), dy);
            tapes.get(layer).backwardWeight();
        }
        return dy;
    }

    private Tensor backwardInput(Tape tape, Tensor dy) {
        recompute.beforeBackward(tape);
        return tape.backwardInput(dy);
    }

    void backwardWeight() {
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            tapes.get(layer).backwardWeight();
        }
        inputGradientDone = false;
    }

    void release() {
        tapes.forEach(Tape::release);
        inputGradientDone = false;
    }
}
