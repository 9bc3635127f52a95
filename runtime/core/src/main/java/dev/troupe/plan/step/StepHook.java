package dev.troupe.plan.step;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;
import java.util.function.Supplier;

/**
 * The points of a rank's steps at which faults can be injected: a method may fail, wait, or change a tensor. A run without
 * faults has {@link #NONE}. Thread rule: the rank's thread; {@link #leaves} on any.
 */
public interface StepHook {
    /** The hook without effect. */
    StepHook NONE = new StepHook() {
    };

    /** Performs an action of a pass by calling {@code work}. */
    default ActionResult around(Action action, Pass pass, Supplier<ActionResult> work) {
        return work.get();
    }

    /** Called after an action has updated the weights of its stage, before it ends. */
    default void updated(Stage stage, Engine engine) {
    }

    /** Called before a stage reads the rows of a microbatch. */
    default void reads(int stage, Pass pass, int microbatch) {
    }

    /** Called before a stage takes the tensor of a receive. */
    default void takes(Action receive, Pass pass) {
    }

    /** Called before a stage hands over the tensor of a send. */
    default void sends(Action send, Pass pass) {
    }

    /** Called before the transport gets this tensor. */
    default void leaves(Action send, Pass pass, Tensor tensor, Engine engine) {
    }

    /** Called before a stage keeps its snapshot after a step; returns whether it does. */
    default boolean keeps(int stage, long step) {
        return true;
    }
}
