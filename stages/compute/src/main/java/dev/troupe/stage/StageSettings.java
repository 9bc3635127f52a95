package dev.troupe.stage;

import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.offload.StateStore;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.TensorSharing;
import dev.troupe.shard.Overlap;
import dev.troupe.sum.GradientOrder;

/**
 * The common settings of all stages of a run, apart from the model.
 *
 * @param microbatchSize sequences of a microbatch, B
 * @param sequenceLength the most tokens of a sequence, T; at most the model's
 * @param microbatchesPerStep microbatches of the global batch, over all data-parallel ranks; the gradient is of the mean
 *     over them
 * @param recompute the tensors of a forward that are not kept
 * @param separatesDocuments whether a sequence may hold several documents, which do not attend to each other
 * @param overlap the versions of weights and sums of gradients that a stage holds if steps overlap
 * @param replay the replay of blocks, if inputs alone are kept
 * @param gradientOrder the rule by which gradients are added over microbatches and ranks
 */
public record StageSettings(int microbatchSize, int sequenceLength, int microbatchesPerStep, Optimizer optimizer,
        Recompute recompute, DropoutSettings dropout, boolean separatesDocuments, Overlap overlap, Replay replay,
        GradientOrder gradientOrder) {
    public StageSettings {
        if (microbatchSize < 1 || sequenceLength < 1 || microbatchesPerStep < 1) {
            throw new IllegalArgumentException(
                    "microbatch size, sequence length and microbatches of a step must each be"
                            + " at least 1, but found " + microbatchSize + ", " + sequenceLength + " and "
                            + microbatchesPerStep);
        }
    }

    /** Returns the microbatches over which a gradient is the mean: of all ranks with the same weights, or of a replica. */
    int microbatchesOf(DataShare data) {
        return data.replicas() ? microbatchesPerStep / data.group().size() : microbatchesPerStep;
    }

    /** Creates settings without overlapping steps. */
    public StageSettings(int microbatchSize, int sequenceLength, int microbatchesPerStep, Optimizer optimizer,
            Recompute recompute, DropoutSettings dropout, boolean separatesDocuments) {
        this(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout, separatesDocuments,
                Overlap.NONE, Replay.INSIDE, GradientOrder.RANKS);
    }

    /** Creates settings that keep everything, without dropout. */
    public StageSettings(int microbatchSize, int sequenceLength, int microbatchesPerStep, Optimizer optimizer) {
        this(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, Recompute.NONE, DropoutSettings.NONE,
                false);
    }

    public StageSettings(int microbatchSize, int sequenceLength, int microbatchesPerStep, Optimizer optimizer,
            Recompute recompute, DropoutSettings dropout) {
        this(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout, false);
    }

    public StageSettings with(Overlap copies) {
        return new StageSettings(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout,
                separatesDocuments, copies, replay, gradientOrder);
    }

    public StageSettings with(Replay other) {
        return new StageSettings(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout,
                separatesDocuments, overlap, other, gradientOrder);
    }

    public StageSettings with(GradientOrder order) {
        return new StageSettings(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout,
                separatesDocuments, overlap, replay, order);
    }

    /** Returns whether one tree adds the gradients of all microbatches. */
    public boolean addsInTree() {
        return gradientOrder == GradientOrder.TREE;
    }

    /** Returns the same with everything that is in a store in another one. */
    public StageSettings storing(StateStore store) {
        Optimizer rule = optimizer instanceof Optimizer.Stored(Optimizer.OfElements each, StateStore _)
                ? new Optimizer.Stored(each, store)
                : optimizer;
        return new StageSettings(microbatchSize, sequenceLength, microbatchesPerStep, rule, recompute, dropout,
                separatesDocuments, overlap, replay.storing(store), gradientOrder);
    }

    /** Returns the same with every half of a block kept, as if it were drawn, to count memory. */
    public StageSettings keepingAllHalves() {
        return new StageSettings(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute,
                dropout.keepingAllHalves(), separatesDocuments, overlap, replay, gradientOrder);
    }

    /** Refuses a stage with a longer sequence than the model's, or with a group that cannot share the model out. */
    void requireFits(ModelSpec model, TensorShare share) {
        int longest = model.size(Axis.POSITION);
        if (sequenceLength > longest) {
            throw new IllegalArgumentException("the model has positions for sequences of up to " + longest
                    + " tokens, but the run asks for " + sequenceLength + ": shorten the sequence");
        }
        TensorSharing.refusal(model, rows(), share.group().size(), share.sharding(), dividesInputs(share))
                .ifPresent(refusal -> {
                    throw new IllegalArgumentException(refusal);
                });
    }

    /** Returns whether a rank keeps only its rows of the inputs of blocks, and has all rows of the residual stream. */
    boolean dividesInputs(TensorShare share) {
        return recompute == Recompute.FULL && replay.partition() && share.group().size() > 1 && !share.cutsRows();
    }

    /** Returns the dropout of a microbatch with sequences of this length; its number counts over all data-parallel ranks. */
    DropoutKey dropoutOf(long step, int microbatch, int length) {
        return dropout.keyOf(step, microbatch, length, sequenceLength);
    }

    /** Returns the rows of an activation: B T. */
    public int rows() {
        return Math.multiplyExact(microbatchSize, sequenceLength);
    }
}
