package dev.troupe.protocol.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.certificate.Certificate;
import java.util.Collections;

/**
 * The steps of a plan's rows: one whole step, or in an asynchronous run several that overlap.
 *
 * @param training the certified plan of a training pass
 */
public record Rows(Certificate training) {
    /** Returns whether a row has several steps, which overlap; a stage then keeps older versions of its weights too. */
    public boolean overlap() {
        return training.plan().continues();
    }

    /** Returns the step of an action, as an index in the row. */
    public int stepInRow(Pass.Kind kind, Action action) {
        return kind == Pass.Kind.TRAINING ? training.plan().stepOf(action) : 0;
    }

    /** Returns the step of an action, counted from the start of the run. */
    public long stepOf(Action action, Pass pass) {
        return pass.step() + stepInRow(pass.kind(), action);
    }

    /** Returns the pass with the step of an action as its first step. */
    public Pass passOf(Action action, Pass pass) {
        int step = stepInRow(pass.kind(), action);
        return step == 0 ? pass : new Pass(pass.step() + step, pass.kind(), pass.lossScale());
    }

    /** Returns the number of an action's microbatch within its step; {@link Action#WHOLE_STEP} if the action has none. */
    public int microbatchInStep(Pass.Kind kind, Action action) {
        return action.kind().isPerMicrobatch()
                ? action.microbatch() - stepInRow(kind, action) * training.plan().microbatchesPerStep()
                : Action.WHOLE_STEP;
    }

    /** Returns the index of the gradient buffer that an action uses; overlapping steps alternate between buffers. */
    public int gradientSum(Pass.Kind kind, Action action) {
        return overlap() ? stepInRow(kind, action) % Collections.max(training.weights().liveGradients()) : 0;
    }
}
