package dev.troupe.stage;

import dev.troupe.layer.Tape;

/**
 * What a stage does not keep of a forward but makes again in the backward, to the bit. Sizes are of a block, in
 * activations of N x C numbers (N rows of a microbatch, C hidden size), beside a few numbers a row.
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
     * What is large and cheap is made again (Korthikanti et al. 2022): the outputs of both norms, of 2 activations, from
     * their inputs, and that of GELU, of 4, from the tensor before it: some ten operations a number, if a matrix
     * product has 2 C. If the engine keeps the probabilities of attention, T numbers a row and head (T sequence length),
     * and these are more than an activation, attention is computed again as well. No product with weights is.
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
     * Only the input of each block is kept, 1 activation, and its forward runs again before its backward (Chen et al.
     * 2016), but for the last product, which only gives an output that is known. The head keeps its input too, and no
     * logits.
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

    /** Whether the backward for the weights reads weights: those of norms whose outputs it makes again. */
    boolean readsWeightsLate() {
        return this == SELECTIVE;
    }

    /** Whether the backward reads what the forward made of each product with weights. */
    boolean keepsProducts() {
        return this != FULL;
    }

    abstract void afterForward(Tape tape);

    abstract void beforeBackward(Tape tape);
}
