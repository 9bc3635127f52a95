package dev.troupe.plan.step;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;

/**
 * An observer of the stages of a rank.
 *
 * <p>Thread rule: the rank's thread.
 */
public interface StepWatch {
    /** Observes nothing. */
    StepWatch NONE = new StepWatch() {
    };

    /** A stage is about to make a tensor for this send. */
    default void makes(Action send) {
    }

    /** The next events of a stage belong to this step of the row. */
    default void enters(int stepInRow) {
    }

    /** A stage is about to use the tensor that another rank has sent for a receive. */
    default void received(Stage stage, Action receive, Pass pass, Tensor tensor) {
    }

    /** The stage with the head had this loss of a microbatch of the row. */
    default void measuredLoss(Stage stage, int microbatch, double loss) {
    }

    /** The gradients of a stage are final; the pass is the one of their step. */
    default void measured(Stage stage, Pass pass) {
    }

    /** A stage has the weights after a step, and others follow in the row. */
    default void updated(Stage stage) {
    }

    /** A stage has the weights after the step of this pass, the last of the row: the state to start again from. */
    default void ended(Stage stage, Pass pass) {
    }
}
