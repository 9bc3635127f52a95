package dev.troupe.plan.step;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;

/** An observer of the stages of a rank. Thread rule: the rank's thread. */
public interface StepWatch {
    StepWatch NONE = new StepWatch() {
    };

    /** Called before a stage computes the tensor of this send. */
    default void makes(Action send) {
    }

    /** Selects the step to which the next calls belong, by its number in the row; a row can have several steps. */
    default void enters(int stepInRow) {
    }

    /** Called before a stage uses a tensor that another rank has sent. */
    default void received(Stage stage, Action receive, Pass pass, Tensor tensor) {
    }

    /** Reports the loss of a microbatch, numbered in the row; only the stage with the head has losses. */
    default void measuredLoss(Stage stage, int microbatch, double loss) {
    }

    /** Reports that the gradients of a stage are final for the step of this pass. */
    default void finalGradients(Stage stage, Pass pass) {
    }

    /** Reports that a stage has updated its weights in a step that is not the last of its row. */
    default void updated(Stage stage) {
    }

    /** Reports that a stage has reached the state after this pass, from which it can restart. */
    default void ended(Stage stage, Pass pass) {
    }
}
