package dev.troupe.stage;

import dev.troupe.layer.LayerContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.offload.KeptInputs;
import dev.troupe.offload.StateStore;
import dev.troupe.parallel.Aside;
import dev.troupe.shard.LayerShares;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Optional;

/** The tapes of the microbatches in progress on a stage; tapes are reused. */
final class MicrobatchTapes {
    private final int stage;
    private final StageLayers layers;
    private final int microbatchesExpected;
    private final Recompute recompute;
    private final ReplayGroups groups;
    private final LayerShares shares;
    private final TensorPool pool;
    /** Null if blocks keep their inputs themselves. */
    private final KeptInputs inputs;
    // Indexed by microbatch; grows as needed.
    private StageTape[] live = new StageTape[0];
    private final Measures measures;
    private final ArrayDeque<StageTape> spare = new ArrayDeque<>();
    // Written by the thread that computes; read by any.
    private volatile int liveCount;
    private StageWatch watch = StageWatch.NONE;
    private boolean endsStep;

    MicrobatchTapes(int stage, StageLayers layers, StageSettings settings, LayerShares shares,
            LayerContext context, Aside aside, Measures measures) {
        this.stage = stage;
        this.measures = measures;
        this.layers = layers;
        this.microbatchesExpected = settings.microbatchesPerStep();
        this.recompute = settings.recompute();
        this.groups = layers.replayGroups(settings.recompute(), settings.replay());
        this.shares = shares;
        this.pool = context.pool();
        boolean divides = settings.dividesInputs(context.share());
        Optional<StateStore> store = settings.recompute() == Recompute.FULL
                ? settings.replay().store()
                : Optional.empty();
        this.inputs = divides || store.isPresent()
                ? new KeptInputs(context, aside, divides, store, groups.keptInputs())
                : null;
    }

    /** Reports all later outputs to a watch. */
    void watchedBy(StageWatch other) {
        watch = other;
    }

    /** Announces that the next backward for the weights is the step's last. */
    void lastBackwardFollows() {
        endsStep = true;
    }

    int liveCount() {
        return liveCount;
    }

    /** Returns an empty tape for a microbatch that is not in progress. */
    StageTape begin(int microbatch) {
        if (microbatch < 0) {
            throw misplaced("forward", microbatch, "microbatches are numbered from 0");
        }
        if (microbatch >= live.length) {
            int length = Math.max(microbatch + 1, microbatchesExpected);
            live = Arrays.copyOf(live, length);
        }
        if (live[microbatch] != null) {
            throw misplaced("forward", microbatch, "activations of an earlier forward are still kept");
        }
        StageTape tape = spare.isEmpty() ? layers.newTape(recompute, groups, inputs, shares, measures) : spare.pop();
        tape.begin(microbatch, watch);
        live[microbatch] = tape;
        liveCount = liveCount + 1;
        return tape;
    }

    /** Returns the tape of a microbatch after its forward, without a replay. */
    StageTape awaitingReplay(int microbatch) {
        StageTape tape = tape("replay", microbatch);
        if (tape.replayedAhead() || tape.inputGradientDone()) {
            throw misplaced("replay", microbatch, "it was done before, or the backward was");
        }
        return tape;
    }

    StageTape awaitingInputGradient(int microbatch) {
        StageTape tape = tape("backward for the input", microbatch);
        if (tape.inputGradientDone()) {
            throw misplaced("backward for the input", microbatch, "it was done before");
        }
        return tape;
    }

    /** Returns the tape of a microbatch after its backward for the input. */
    StageTape awaitingWeightGradient(int microbatch) {
        StageTape tape = tape("backward for the weights", microbatch);
        if (!tape.inputGradientDone()) {
            throw misplaced("backward for the weights", microbatch, "the backward for the input was not done yet");
        }
        return tape;
    }

    /** Ends a microbatch; its tape must be empty. */
    void end(int microbatch) {
        live[microbatch].end(pool);
        spare.push(live[microbatch]);
        live[microbatch] = null;
        liveCount = liveCount - 1;
        endsStep = false;
    }

    /** Closes the room of inputs in a store; tensors are closed with the pool. */
    void close() {
        if (inputs != null) {
            inputs.close();
        }
    }

    double loss(int microbatch) {
        if (!measures.hasLoss(microbatch)) {
            throw misplaced("loss", microbatch, "no forward on a stage with the head came before");
        }
        return measures.loss(microbatch);
    }

    private StageTape tape(String what, int microbatch) {
        if (microbatch < 0 || microbatch >= live.length || live[microbatch] == null) {
            throw misplaced(what, microbatch, "there are no activations of a forward");
        }
        live[microbatch].endsStep(endsStep);
        return live[microbatch];
    }

    private IllegalStateException misplaced(String what, int microbatch, String why) {
        return new IllegalStateException(
                what + " of microbatch " + microbatch + " on stage " + stage + " is out of order: " + why);
    }
}
