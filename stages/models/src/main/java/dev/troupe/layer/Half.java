package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.util.List;

/**
 * A half of a block: {@code f} of {@code y = x + f(norm(x))}, where x is the residual stream and f ends in a projection. The
 * norm, the stream, dropout and the order of the backwards are the same in every half; a subclass computes f.
 *
 * <p>N = B T rows, C hidden size: x and y [N x C].
 */
public abstract class Half {
    protected final Engine engine;
    protected final TensorPool pool;
    protected final ResidualStream stream;
    /** [N x C]. */
    protected final TensorPool.Extent activation;
    protected final Norm norm;
    private final StreamDropout dropout;

    /**
     * Makes the common parts of a half on a rank.
     *
     * @param block the block's number in the model, for dropout: the embedding is 0
     * @param site the place of the half's dropout in the block
     */
    protected Half(LayerContext context, int block, DropoutKey.Site site, Norm.Spec norm) {
        engine = context.engine();
        pool = context.pool();
        stream = new ResidualStream(context);
        dropout = new StreamDropout(context, stream, block, site);
        activation = context.activation(context.hidden());
        this.norm = new Norm(context, norm);
    }

    /** Returns the parameters in the order of the published model. */
    public abstract List<Parameter> parameters();

    /** Returns an empty pass; it serves one microbatch after another. */
    public abstract Pass newPass();

    /** One microbatch. */
    public abstract class Pass {
        protected MicrobatchContext microbatch;
        /** Whether the backward for the weights comes right after the one for the input, as in {@link Tape}. */
        protected boolean weightsFollow;
        /** All rows of the normed input, [N x C]; null while it is given back. */
        protected Tensor normed;
        /** All rows of the gradient for f, [N x C], between the two backwards. */
        protected Tensor outputGradient;
        private final Norm.Pass normPass = norm.new Pass();
        private final boolean isTrained = parameters().stream().anyMatch(one -> one.spec().isTrained());

        /** Computes f of the normed input, without its last projection. */
        protected abstract void forward();

        /** Returns the last projection of f, which the caller takes over: this rank's rows of the sum over the group. */
        protected abstract Tensor projected();

        /** Gives back the tensors of f that the backwards compute again at almost no cost. */
        protected abstract void dropRecomputableInner();

        /**
         * Returns the gradient for the normed input, as far as this rank computes it, and gives back the tensors that only
         * this part of the backward reads: the other part may come much later.
         */
        protected abstract Tensor backwardInner();

        /** Adds to the gradients of the parameters of f. */
        protected abstract void backwardInnerWeight();

        /** Gives back every tensor of f that the forward made. */
        protected abstract void releaseInner();

        /** Gives back every tensor of f that the backward for the input made. */
        protected abstract void releaseInnerGradients();

        /**
         * Runs the forward as far as the backwards need it, without the last projection. The input is {@code residual + x},
         * which x becomes; takes that over.
         *
         * @param residual the input of the half before, which keeps it; null if x is all of the input
         */
        final void enter(Tensor residual, Tensor x, MicrobatchContext context) {
            microbatch = context;
            forward(normPass.forwardOfSum(residual, x, context.length()));
        }

        private void forward(Tensor own) {
            normed = stream.intoWhole(own, microbatch.length());
            forward();
        }

        /**
         * Runs the last projection, after {@link #enter}; returns the addend of {@link #residual}, which the caller takes
         * over.
         */
        final Tensor project() {
            Tensor added = projected();
            dropout.forward(added, microbatch);
            return added;
        }

        /** Returns the input, which passes by this half. */
        final Tensor residual() {
            return normPass.input();
        }

        /** Gives back the tensors that the backwards compute again at almost no cost. */
        final void dropRecomputable() {
            normed = pool.drop(normed);
            dropRecomputableInner();
        }

        final void dropAllButInput() {
            normPass.dropAllButInput();
            normed = pool.drop(normed);
            releaseInner();
        }

        /** Makes again the tensors that {@link #dropAllButInput} gave back. */
        final void recompute() {
            forward(normPass.recompute());
        }

        /** Takes over the gradient for y, and returns the gradient for x. */
        final Tensor backwardInput(Tensor dy, boolean weightsToo) {
            weightsFollow = weightsToo;
            outputGradient = dropout.backward(dy, microbatch);
            Tensor dNormed = stream.intoSum(backwardInner(), microbatch.length());
            Tensor dx = stream.pastHalf(dy, outputGradient, microbatch.length());
            normPass.backwardInput(dNormed, dx, true, weightsFollow);
            return dx;
        }

        /** Adds to the gradients of the parameters, and gives all tensors back. */
        final void backwardWeight() {
            if (isTrained) {
                if (normed == null) {
                    normed = stream.intoWhole(normPass.again(), microbatch.length());
                }
                backwardInnerWeight();
                normPass.backwardWeight();
            }
            release();
        }

        /** Takes a product tensor for the microbatch, with any content. */
        protected final Tensor take(TensorPool.Extent extent) {
            return pool.take(extent, microbatch.length());
        }

        final void release() {
            normPass.release();
            normed = pool.drop(normed);
            releaseInner();
            outputGradient = pool.drop(outputGradient);
            releaseInnerGradients();
        }
    }
}
