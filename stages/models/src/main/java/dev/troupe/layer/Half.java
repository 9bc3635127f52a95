package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.drop.LayerDrop;
import java.util.List;

/**
 * A half of a block: {@code f} of {@code y = x + f(norm(x))}, where x is the residual stream and f ends in a projection. The
 * norm, the stream, dropout and the order of the backwards are the same in every half; a subclass computes f. A half that a
 * microbatch keeps with a {@linkplain LayerDrop probability} divides f by it.
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
        /** Whether the backward for the weights comes right after the backward for the input, as in {@link Tape}. */
        protected boolean weightsFollow;
        /** All rows of the normed input, [N x C]; null while it is not in memory. */
        protected Tensor normed;
        /** All rows of the gradient for f, [N x C], between the two backwards. */
        protected Tensor outputGradient;
        /** The reciprocal of the probability that the half is kept. */
        private double factor = 1;
        private final Norm.Pass normPass = norm.new Pass();
        private final boolean isTrained = parameters().stream().anyMatch(one -> one.spec().isTrained());

        /** Computes f of the normed input up to its last projection. */
        protected abstract void forward();

        /** Returns this rank's rows of the last projection of f, summed over the group; the caller takes them over. */
        protected abstract Tensor projected();

        /** Frees the tensors of f that the backwards compute again at almost no cost. */
        protected abstract void dropRecomputableInner();

        /**
         * Returns this rank's part of the gradient for the normed input, and frees the tensors that only this backward
         * reads: the backward for the weights may be much later.
         */
        protected abstract Tensor backwardInner();

        /** Adds to the gradients of the parameters of f. */
        protected abstract void backwardInnerWeight();

        /** Frees every tensor of f that the forward made, and computes again in a replay. */
        protected abstract void releaseInner();

        /** Frees the decisions of the forward that a replay reads, if f makes any. */
        protected void releaseDecisions() {
            // Most halves decide nothing.
        }

        /** Frees every tensor of f that the backward for the input made. */
        protected abstract void releaseInnerGradients();

        /** Returns whether a microbatch keeps the half, before its {@link #enter}. */
        final boolean isKept(MicrobatchContext context) {
            factor = dropout.factorOfHalf(context);
            return factor != 0;
        }

        /**
         * Runs the forward as far as the backwards need it, without the last projection. The input is {@code residual + x},
         * which is written to x and taken over.
         *
         * @param residual the input of the half before, which keeps it; null if x is the whole input
         */
        final void enter(Tensor residual, Tensor x, MicrobatchContext context) {
            microbatch = context;
            forward(normPass.forwardOfSum(residual, x, context.length()));
        }

        private void forward(Tensor own) {
            normed = stream.enter(own, microbatch.length());
            forward();
        }

        /**
         * Runs the last projection, after {@link #enter}; returns the addend of {@link #residual}, which the caller takes
         * over.
         */
        final Tensor project() {
            Tensor added = projected();
            dropout.forward(added, factor, microbatch);
            return added;
        }

        /** Returns the input, which the residual connection adds to the output. */
        final Tensor residual() {
            return normPass.input();
        }

        /** Frees the tensors that the backwards compute again at almost no cost. */
        final void dropRecomputable() {
            normed = pool.drop(normed);
            dropRecomputableInner();
        }

        /** Replaces the input, as {@link ResidualLayer.Pass#replaceInput}. */
        final void replaceInput(Tensor other) {
            normPass.replaceInput(other);
        }

        final void dropAllButInput() {
            normPass.dropAllButInput();
            normed = pool.drop(normed);
            releaseInner();
        }

        /** Frees the input too, since a replay enters it again; only decisions remain. */
        final void dropAll() {
            normPass.release();
            normed = pool.drop(normed);
            releaseInner();
        }

        /** Computes the tensors again that {@link #dropAllButInput} freed. */
        final void recompute() {
            forward(normPass.recompute());
        }

        /** Takes over the gradient for y, and returns the gradient for x. */
        final Tensor backwardInput(Tensor dy, boolean weightsToo) {
            weightsFollow = weightsToo;
            outputGradient = dropout.backward(dy, factor, microbatch);
            Tensor dNormed = stream.enterBackward(backwardInner(), microbatch.length());
            Tensor dx = stream.pastHalf(dy, outputGradient, microbatch.length());
            normPass.backwardInput(dNormed, dx, true, weightsFollow);
            return dx;
        }

        /** Adds to the gradients of the parameters, and frees all tensors. */
        final void backwardWeight() {
            if (isTrained) {
                if (normed == null) {
                    normed = stream.enter(normPass.again(), microbatch.length());
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
            dropAll();
            releaseDecisions();
            outputGradient = pool.drop(outputGradient);
            releaseInnerGradients();
        }
    }
}
