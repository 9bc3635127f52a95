package dev.troupe.stage;

import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.TensorSharing;
import dev.troupe.shard.Overlap;

/**
 * What all stages of a run have in common beside the model.
 *
 * @param microbatchSize sequences of a microbatch, B
 * @param sequenceLength the most tokens of a sequence, T; at most the model's
 * @param microbatchesPerStep microbatches of the global batch, over all data-parallel ranks: gradients are those of the
 *     mean over them
 * @param optimizer how weights are updated
 * @param recompute what is not kept of a forward
 * @param dropout what drops out of a forward in training
 * @param separatesDocuments whether a sequence may hold several documents, each of which sees itself alone
 * @param overlap the versions of weights and sums of gradients that a stage holds so that steps may overlap
 * @param replay how the forwards of blocks are replayed, where inputs alone are kept
 * @param roundsGradients whether ranks with the same weights send each other gradients of bfloat16
 */
public record StageSettings(int microbatchSize, int sequenceLength, int microbatchesPerStep, Optimizer optimizer,
        Recompute recompute, DropoutSettings dropout, boolean separatesDocuments, Overlap overlap, Replay replay,
        boolean roundsGradients) {
    public StageSettings {
        if (microbatchSize < 1 || sequenceLength < 1 || microbatchesPerStep < 1) {
            throw new IllegalArgumentException(
                    "microbatch size, sequence length and microbatches of a step must each be"
                            + " at least 1, but found " + microbatchSize + ", " + sequenceLength + " and "
                            + microbatchesPerStep);
        }
    }

    /** Settings of a stage whose steps do not overlap. */
    public StageSettings(int microbatchSize, int sequenceLength, int microbatchesPerStep, Optimizer optimizer,
            Recompute recompute, DropoutSettings dropout, boolean separatesDocuments) {
        this(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout, separatesDocuments,
                Overlap.NONE, Replay.INSIDE, false);
    }

    /** Settings of a stage that keeps everything and drops nothing out. */
    public StageSettings(int microbatchSize, int sequenceLength, int microbatchesPerStep, Optimizer optimizer) {
        this(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, Recompute.NONE, DropoutSettings.NONE,
                false);
    }

    /** Settings if every sequence is one document. */
    public StageSettings(int microbatchSize, int sequenceLength, int microbatchesPerStep, Optimizer optimizer,
            Recompute recompute, DropoutSettings dropout) {
        this(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout, false);
    }

    /** The same for a stage that holds other copies. */
    public StageSettings with(Overlap copies) {
        return new StageSettings(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout,
                separatesDocuments, copies, replay, roundsGradients);
    }

    /** The same for a stage that replays blocks otherwise. */
    public StageSettings with(Replay other) {
        return new StageSettings(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout,
                separatesDocuments, overlap, other, roundsGradients);
    }

    /** The same for a stage whose ranks with the same weights send each other gradients of bfloat16, or not. */
    public StageSettings roundingGradients(boolean rounds) {
        return new StageSettings(microbatchSize, sequenceLength, microbatchesPerStep, optimizer, recompute, dropout,
                separatesDocuments, overlap, replay, rounds);
    }

    /** Refuses a stage whose sequence is longer than the model's, or whose group cannot share the model out. */
    void requireFits(ModelSpec model, TensorShare share) {
        int longest = model.size(Axis.POSITION);
        if (sequenceLength > longest) {
            throw new IllegalArgumentException("the model has positions for sequences of up to " + longest
                    + " tokens, but the run asks for " + sequenceLength + ": shorten the sequence");
        }
        TensorSharing.refusal(model, rows(), share.group().size(), share.sequence()).ifPresent(refusal -> {
            throw new IllegalArgumentException(refusal);
        });
    }

    /** The dropout of a microbatch of sequences of this length; its number is that over all data-parallel ranks. */
    DropoutKey dropoutOf(long step, int microbatch, int length) {
        return dropout.keyOf(step, microbatch, length, sequenceLength);
    }

    /** Rows of an activation: B T. */
    public int rows() {
        return Math.multiplyExact(microbatchSize, sequenceLength);
    }
}
