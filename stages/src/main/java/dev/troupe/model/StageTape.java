package dev.troupe.model;

import dev.troupe.engine.Tensor;
import java.util.List;

/** The way of one microbatch through all layers of a stage. */
final class StageTape {
    private final List<Tape> tapes;
    private final HeadLayer.Pass head;
    private boolean inputGradientDone;

    StageTape(List<Tape> tapes) {
        this.tapes = tapes;
        this.head = tapes.getLast() instanceof HeadLayer.Pass pass ? pass : null;
    }

    /** Null where another stage has the head. */
    HeadLayer.Pass head() {
        return head;
    }

    boolean inputGradientDone() {
        return inputGradientDone;
    }

    Tensor forward(Tensor input) {
        Tensor x = input;
        for (Tape tape : tapes) {
            x = tape.forward(x);
        }
        return x;
    }

    /** Lets go of each layer's activations before the next layer runs. */
    Tensor forwardOnly(Tensor input) {
        Tensor x = input;
        for (Tape tape : tapes) {
            x = tape.forward(x);
            tape.release();
        }
        return x;
    }

    Tensor backwardInput(Tensor outputGradient) {
        Tensor dy = outputGradient;
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            dy = tapes.get(layer).backwardInput(dy);
        }
        inputGradientDone = true;
        return dy;
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
