package dev.troupe.plan.step;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;
import java.util.function.Supplier;

/**
 * The points of a rank's steps at which something may interfere: a method may fail, wait, or change a tensor. Injected
 * faults do; a run without faults has {@link #NONE}.
 *
 * <p>Thread rule: the rank's thread; {@link #leaves} on any.
 */
public interface StepHook {
    /** Interferes nowhere. */
    StepHook NONE = new StepHook() {
    };

    /** Performs an action of a pass by doing its work. */
    default ActionResult around(Action action, Pass pass, Supplier<ActionResult> work) {
        return work.get();
    }

    /** An action has updated the weights of its stage, and is about to end. */
    default void updated(Stage stage, Engine engine) {
    }

    /** A stage is about to read the rows of a microbatch. */
    default void reads(int stage, Pass pass, int microbatch) {
    }

    /** A stage is about to take the tensor of a receive. */
    default void takes(Action receive, Pass pass) {
    }

    /** A stage is about to hand over the tensor of a send. */
    default void sends(Action send, Pass pass) {
    }

    /** The transport is about to get this tensor. */
    default void leaves(Action send, Pass pass, Tensor tensor, Engine engine) {
    }

    /** A stage is about to keep its snapshot after a step. Returns whether it does. */
    default boolean keeps(int stage, long step) {
        return true;
    }
}
