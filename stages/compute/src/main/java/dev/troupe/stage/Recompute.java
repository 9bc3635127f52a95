package dev.troupe.stage;

import dev.troupe.layer.Tape;

/**
 * The choice of forward tensors that the backward computes again, to the bit, instead of keeping them. Sizes are of a block,
 * in activations of N x C numbers (N rows of a microbatch, C hidden size), without a few numbers a row.
 */
public enum Recompute {
    /** Everything is kept: 16 activations a block, and attention's state. */
    NONE {
        @Override
        void afterForward(Tape tape) {
        }

        @Override
        void beforeBackward(Tape tape) {
        }
    },
    /**
     * Large and cheap tensors are computed again (Korthikanti et al. 2022): the outputs of both norms (2 activations) and of
     * GELU (4). They cost about ten operations a number, while a matrix product costs 2 C. If the engine keeps the
     * probabilities of attention, T numbers a row and head (T sequence length), and they are larger than an activation,
     * attention is computed again too. Products with weights are not.
     */
    SELECTIVE {
        @Override
        void afterForward(Tape tape) {
            tape.dropRecomputable();
        }

        @Override
        void beforeBackward(Tape tape) {
        }
    },
    /**
     * Only the input of each block is kept, 1 activation, and its forward runs again before its backward (Chen et al. 2016),
     * without the last product, because the output is known. The head keeps its input and no logits.
     */
    FULL {
        @Override
        void afterForward(Tape tape) {
            tape.dropAllButInput();
        }

        @Override
        void beforeBackward(Tape tape) {
            tape.recompute();
        }
    };

    /** Returns whether the backward for the weights reads the weights of norms, to compute their outputs again. */
    boolean readsWeightsLate() {
        return this == SELECTIVE;
    }

    /** Returns whether the backward reads the result of each product with weights in the forward. */
    boolean keepsProducts() {
        return this != FULL;
    }

    abstract void afterForward(Tape tape);

    abstract void beforeBackward(Tape tape);
}
