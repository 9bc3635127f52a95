package dev.troupe.stage;

import dev.troupe.layer.Tape;

/**
 * The tensors of a forward that a stage does not keep but computes again in the backward, to the bit. Sizes are of a block,
 * in activations of N x C numbers (N rows of a microbatch, C hidden size), not counting a few numbers a row.
 */
public enum Recompute {
    /** Everything is kept: 16 activations a block, and attention's own state. */
    NONE {
        @Override
        void afterForward(Tape tape) {
        }

        @Override
        void beforeBackward(Tape tape) {
        }
    },
    /**
     * Large and cheap tensors are computed again (Korthikanti et al. 2022): the outputs of both norms, of 2 activations,
     * from their inputs, and the output of GELU, of 4, from the tensor before it: some ten operations a number, compared
     * with 2 C of a matrix product. If the engine keeps the probabilities of attention, T numbers a row and head (T sequence
     * length), and these are more than an activation, attention is computed again as well. No product with weights is.
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
     * without the last product, which only gives a known output. The head keeps its input too, and no logits.
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

    /** Returns whether the backward for the weights reads weights: of norms with outputs that it computes again. */
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
