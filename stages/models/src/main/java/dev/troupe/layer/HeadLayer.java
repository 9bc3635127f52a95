package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.stream.Stream;

/**
 * The end of the model: {@code logits = norm(x) table^T}, and the mean cross-entropy over the rows.
 *
 * <p>N = B T rows, C hidden size, V vocabulary: x [N x C], table [V x C], logits [N x V], targets [N]. Each of the t ranks
 * of a group has V/t rows of the table, and the logits of those tokens; logits are never gathered.
 */
public final class HeadLayer implements Layer {
    private final Engine engine;
    private final TensorPool pool;
    private final int microbatchesPerStep;
    private final ResidualStream stream;
    private final VocabularyLoss vocabularyLoss;
    private final TensorPool.Extent activation;
    private final TensorPool.Extent logitsShape;
    private final TensorPool.Extent rowShape;
    private final Norm norm;
    private final Parameter table;
    private double lossScale = 1;

    /**
     * @param output the table [V x C]; a second use of it if the embedding on the same stage has it too
     */
    public HeadLayer(LayerContext context, Norm.Spec norm, ParameterSpec output) {
        engine = context.engine();
        pool = context.pool();
        microbatchesPerStep = context.microbatchesPerStep();
        stream = new ResidualStream(context);
        vocabularyLoss = new VocabularyLoss(context);
        activation = context.activation(context.hidden());
        rowShape = context.perRow(1);
        this.norm = new Norm(context, norm);
        table = context.parameter(output);
        logitsShape = context.activation(table.shape().size(0));
    }

    @Override
    public List<Parameter> parameters() {
        return Stream.concat(norm.parameters().stream(), Stream.of(table)).toList();
    }

    public Parameter table() {
        return table;
    }

    /** Returns the factor of gradients. */
    public double lossScale() {
        return lossScale;
    }

    /** Sets the factor of later gradients. */
    public void scaleLoss(double factor) {
        lossScale = factor;
    }

    @Override
    public boolean readsWeightsBackwards() {
        return true;
    }

    @Override
    public Pass newTape() {
        return new Pass();
    }

    /**
     * Computes the logits of n rows of an activation.
     *
     * @param x [n x C], the output of the last block for these rows
     * @param logits [n x V]
     */
    public void logitsOfRows(Tensor x, Tensor logits) {
        Tensor normed = pool.take(x.shape());
        norm.rows(x, normed);
        engine.matmul(normed, false, table.computeWeights(), true, logits, false);
        pool.give(normed);
    }

    /** One microbatch. */
    public final class Pass implements Tape {
        private final Norm.Pass normPass = norm.new Pass();
        private Tensor targets;
        private Tensor normed;
        /** The logits, or their gradient if {@link #hasGradient}. */
        private Tensor logits;
        private Tensor logSumExp;
        private boolean startsGradient;
        private boolean hasGradient;
        /** The factor of the gradient of each row's loss. */
        private double scale;
        private double targetsPerMicrobatch;
        private Tensor losses;
        private int lossIndex;
        private int length;

        /**
         * Takes over the target ids, before the forward. The forward writes the sum of the rows' losses to {@code sums}.
         *
         * @param targetTokens INT32 [N]: an id in this rank's rows of the table, {@code NOT_IN_SHARD} or {@code NOT_COUNTED}
         * @param counted the divisor of the loss: the mean number of counted targets per microbatch of the step
         * @param sums FLOAT64, gets the sum of the losses
         */
        public void predict(Tensor targetTokens, double counted, Tensor sums, int index) {
            targets = targetTokens;
            targetsPerMicrobatch = counted;
            losses = sums;
            lossIndex = index;
        }

        /**
         * Sets whether the next forward is followed by its backward. The gradient may then replace the logits in that
         * forward.
         */
        public void startsGradient(boolean inForward) {
            startsGradient = inForward;
        }

        /**
         * Returns the logits of the last forward without {@linkplain #startsGradient a gradient}, a product tensor [N x V]
         * of the pass; null if they were freed.
         */
        public Tensor logits() {
            return logits;
        }

        /** The output of the model is its loss, so this returns null. */
        @Override
        public Tensor forward(Tensor x, MicrobatchContext microbatch) {
            length = microbatch.length();
            normed = stream.enter(normPass.forward(x, length), length);
            scale = 1.0 / (targetsPerMicrobatch * microbatchesPerStep) * lossScale;
            Tensor rowLoss = measure(startsGradient);
            engine.sum(rowLoss, losses, lossIndex);
            pool.give(rowLoss);
            return null;
        }

        /**
         * Returns the loss of each row; the caller gives it back.
         *
         * @param starts whether the gradient replaces the logits, if that needs no other rank
         */
        private Tensor measure(boolean starts) {
            logits = pool.take(logitsShape, length);
            engine.matmul(normed, false, table.computeWeights(), true, logits, false);
            Tensor rowLoss = pool.takeFloats(rowShape, length);
            logSumExp = pool.takeFloats(rowShape, length);
            hasGradient = starts && vocabularyLoss.isWhole();
            if (hasGradient) {
                engine.crossEntropyBoth(logits, targets, scale, rowLoss, logSumExp);
            } else {
                engine.crossEntropy(logits, targets, rowLoss, logSumExp);
                vocabularyLoss.join(targets, rowLoss, logSumExp);
            }
            return rowLoss;
        }

        @Override
        public void dropRecomputable() {
            normed = pool.drop(normed);
        }

        @Override
        public void dropAllButInput() {
            normPass.dropAllButInput();
            normed = pool.drop(normed);
            logits = pool.drop(logits);
            logSumExp = pool.drop(logSumExp);
        }

        @Override
        public void recompute() {
            normed = stream.enter(normPass.recompute(), length);
            pool.give(measure(true));
        }

        /** The gradient begins here, so {@code dy} is null. */
        @Override
        public Tensor backwardInput(Tensor dy, boolean weightsFollow) {
            if (!hasGradient) {
                engine.crossEntropyBackward(logits, targets, logSumExp, scale, logits);
                hasGradient = true;
            }
            Tensor dNormed = pool.take(activation, length);
            engine.matmul(logits, false, table.computeWeights(), false, dNormed, false);
            dNormed = stream.enterBackward(dNormed, length);
            Tensor dx = pool.take(stream.extent(), length);
            normPass.backwardInput(dNormed, dx, false, weightsFollow);
            return dx;
        }

        @Override
        public void backwardWeight() {
            if (table.spec().isTrained()) {
                if (normed == null) {
                    normed = stream.enter(normPass.again(), length);
                }
                engine.matmul(logits, true, normed, false, table.gradient(), true);
            }
            normPass.backwardWeight();
            release();
        }

        @Override
        public void release() {
            normPass.release();
            targets = pool.drop(targets);
            normed = pool.drop(normed);
            logits = pool.drop(logits);
            logSumExp = pool.drop(logSumExp);
        }
    }
}
