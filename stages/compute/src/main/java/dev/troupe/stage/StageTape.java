package dev.troupe.stage;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.ExpertLoads;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.ResidualLayer;
import dev.troupe.layer.Tape;
import dev.troupe.layer.TensorPool;
import dev.troupe.offload.KeptInputs;
import dev.troupe.shard.LayerShares;
import java.util.List;

/** The computation of one microbatch in all layers of a stage. */
final class StageTape {
    private final StageLayers layers;
    private final List<Tape> tapes;
    private final Recompute recompute;
    private final ReplayGroups groups;
    /** Null if blocks keep their inputs themselves. */
    private final KeptInputs.Room inputs;
    private final LayerShares shares;
    /** Null if another stage has the head. */
    private final HeadLayer.Pass head;
    private final Measures measures;
    /** The context of the microbatch in progress. */
    private MicrobatchContext context;
    private int number;
    private StageWatch watch;
    private boolean endsStep;
    private boolean replayedAhead;
    private boolean inputGradientDone;

    StageTape(StageLayers layers, List<Tape> tapes, Recompute recompute, ReplayGroups groups,
            KeptInputs.Room inputs, LayerShares shares, Measures measures) {
        this.layers = layers;
        this.tapes = tapes;
        this.recompute = recompute;
        this.groups = groups;
        this.inputs = inputs;
        this.shares = shares;
        this.measures = measures;
        this.head = tapes.getLast() instanceof HeadLayer.Pass pass ? pass : null;
    }

    /** Gives the targets to the head, which this stage has; the loss goes to the measured losses. */
    void predict(Tensor targets, double counted) {
        head.predict(targets, counted, measures.lossOf(number, counted), measures.index(number));
    }

    void begin(int microbatch, StageWatch watchedBy) {
        number = microbatch;
        watch = watchedBy;
    }

    /** Sets whether the next backward for the weights is the step's last. */
    void endsStep(boolean isLast) {
        endsStep = isLast;
    }

    /** Returns the tokens of each sequence of the microbatch in progress. */
    int length() {
        return context.length();
    }

    /** Returns the loads of experts in the microbatch in progress; null if they are not counted. */
    ExpertLoads loads() {
        return context.loads();
    }

    boolean replayedAhead() {
        return replayedAhead;
    }

    boolean inputGradientDone() {
        return inputGradientDone;
    }

    Tensor forward(Tensor input, MicrobatchContext microbatch) {
        context = microbatch;
        startGradient(recompute.keepsProducts());
        Tensor x = input;
        for (int layer = 0; layer < tapes.size(); layer++) {
            shares.beginForward(layer);
            x = tapes.get(layer).forward(x, microbatch);
            if (x != null) {
                watch.activation(layers.range(layer).last(), number, x);
            }
            if (keepsInput(layer)) {
                recompute.afterForward(tapes.get(layer));
                if (inputs != null && tapes.get(layer) instanceof ResidualLayer.Pass block && !block.isDropped()) {
                    block.replaceInput(
                            inputs.keep(groups.input(groups.first(layer)), block.input(), context.length()));
                }
            } else {
                ((ResidualLayer.Pass) tapes.get(layer)).dropAll();
            }
            shares.endForward(layer);
        }
        return x;
    }

    /** Returns whether a layer keeps its input: the first of its group that the microbatch does not drop. */
    private boolean keepsInput(int layer) {
        return nextKept(groups.first(layer), layer) == layer || groups.first(layer) == groups.last(layer);
    }

    /** Returns the next layer from {@code first} to {@code last} that the microbatch does not drop; after it if none. */
    private int nextKept(int first, int last) {
        int layer = first;
        while (layer <= last && tapes.get(layer) instanceof ResidualLayer.Pass pass && pass.isDropped()) {
            layer++;
        }
        return layer;
    }

    /** Sets whether the next forward computes the head's gradient for the backward. */
    private void startGradient(boolean inForward) {
        if (head != null) {
            head.startsGradient(inForward);
        }
    }

    /** Runs the forward and frees each layer's activations before the next layer runs; the watch gets no report. */
    Tensor forwardOnly(Tensor input, MicrobatchContext microbatch) {
        context = microbatch;
        startGradient(false);
        watch = StageWatch.NONE;
        Tensor x = input;
        for (int layer = 0; layer < tapes.size(); layer++) {
            shares.beginForward(layer);
            x = tapes.get(layer).forward(x, microbatch);
            tapes.get(layer).release();
            shares.endForward(layer);
        }
        return x;
    }

    /** Frees all layers' tensors of the microbatch, after its last backward. */
    void end(TensorPool pool) {
        pool.drop(context.starts());
        if (context.loads() != null) {
            context.loads().release(pool);
        }
        context = null;
        replayedAhead = false;
    }

    /** Replays layers before the gradient arrives. */
    void replayAhead() {
        for (int layer = groups.firstAhead(); layer < groups.endAhead(); layer = groups.last(layer) + 1) {
            int last = groups.last(layer);
            int next = last + 1 < groups.endAhead() ? last + 1 : -1;
            replay(layer, last, next, next);
            shares.endBackward(last);
        }
        replayedAhead = true;
    }

    /**
     * Computes the tensors that the layers of a group did not keep. The weights of the last layer remain.
     *
     * @param next the next layer that reads its weights
     * @param nextReplay the first layer of the group that is replayed next; -1 for none
     */
    private void replay(int first, int last, int next, int nextReplay) {
        Tensor x = null;
        int begin = nextKept(first, last);
        for (int layer = first; layer <= last; layer++) {
            shares.beginBackward(layer, layer < last ? layer + 1 : next);
            if (layer == begin) {
                if (inputs != null && tapes.get(layer) instanceof ResidualLayer.Pass block) {
                    block.replaceInput(inputs.restore(groups.input(first), block.input(), context.length()));
                    if (nextReplay >= 0 && groups.input(nextReplay) >= 0
                            && nextKept(nextReplay, groups.last(nextReplay)) <= groups.last(nextReplay)) {
                        inputs.prefetch(groups.input(nextReplay), context.length());
                    }
                }
                recompute.beforeBackward(tapes.get(layer));
            } else if (x != null && nextKept(layer, layer) == layer) {
                ((ResidualLayer.Pass) tapes.get(layer)).enter(x, context);
                x = null;
            }
            if (layer < last) {
                if (x == null && layer >= begin && nextKept(layer + 1, last) <= last) {
                    x = ((ResidualLayer.Pass) tapes.get(layer)).output();
                }
                shares.endBackward(layer);
            }
        }
    }

    /** Prepares the weights of a layer and the inputs of its backward. */
    private void beginBackward(int layer) {
        if (layer == groups.last(layer) && !isReplayed(layer)) {
            int before = groups.first(layer) - 1;
            replay(groups.first(layer), layer, nextBackwards(layer),
                    before < 0 || isReplayed(before) ? -1 : groups.first(before));
        } else {
            shares.beginBackward(layer, nextBackwards(layer));
        }
    }

    private boolean isReplayed(int layer) {
        return replayedAhead && groups.isAhead(layer);
    }

    /**
     * Returns the next layer that reads its weights after a backward: the layer before, or the first if a group is replayed.
     */
    private int nextBackwards(int layer) {
        int before = layer - 1;
        return before < 0 || layer != groups.first(layer) || isReplayed(before) ? before : groups.first(before);
    }

    Tensor backwardInput(Tensor outputGradient) {
        Tensor dy = outputGradient;
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            beginBackward(layer);
            dy = backwardInput(layer, dy, false);
            shares.endBackward(layer);
        }
        inputGradientDone = true;
        return dy;
    }

    /** Runs both backwards layer by layer, so that the tensors between the two belong to one layer. */
    Tensor backward(Tensor outputGradient) {
        Tensor dy = outputGradient;
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            beginBackward(layer);
            dy = backwardInput(layer, dy, true);
            backwardWeight(layer);
            shares.endBackward(layer);
            shares.addUp(layer);
        }
        return dy;
    }

    private Tensor backwardInput(int layer, Tensor dy, boolean weightsFollow) {
        Tensor dx = tapes.get(layer).backwardInput(dy, weightsFollow);
        if (dx != null) {
            watch.inputGradient(layers.range(layer).first(), number, dx);
        }
        return dx;
    }

    private void backwardWeight(int layer) {
        tapes.get(layer).backwardWeight();
        if (endsStep) {
            watch.gradients(layers.range(layer), layers.trained(layer));
        }
    }

    void backwardWeight() {
        boolean readsWeights = recompute.readsWeightsLate();
        for (int layer = tapes.size() - 1; layer >= 0; layer--) {
            if (readsWeights) {
                shares.beginBackward(layer, layer - 1);
            }
            backwardWeight(layer);
            if (readsWeights) {
                shares.endBackward(layer);
            }
            shares.addUp(layer);
        }
        inputGradientDone = false;
    }
}
