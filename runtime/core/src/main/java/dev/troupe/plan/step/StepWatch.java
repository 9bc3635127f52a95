package dev.troupe.plan.step;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;

/** An observer of the stages of a rank. Thread rule: the rank's thread. */
public interface StepWatch {
    StepWatch NONE = new StepWatch() {
    };

    /** Called before a stage makes a tensor for this send. */
    default void makes(Action send) {
    }

    /** Selects the step of the row to which the next events of a stage belong. */
    default void enters(int stepInRow) {
    }

    /** Called before a stage uses a tensor that another rank has sent. */
    default void received(Stage stage, Action receive, Pass pass, Tensor tensor) {
    }

    /** Reports the loss of a microbatch of the row, from the stage with the head. */
    default void measuredLoss(Stage stage, int microbatch, double loss) {
    }

    /** Reports that the gradients of a stage are final; the pass is the one of their step. */
    default void measured(Stage stage, Pass pass) {
    }

    /** Reports that a stage has the weights after a step that is not the last of the row. */
    default void updated(Stage stage) {
    }

    /** Reports that a stage has the weights after this pass: the state from which it can restart. */
    default void ended(Stage stage, Pass pass) {
    }
}
