package dev.troupe.parallel;

import java.util.concurrent.Executor;

/** The executor of a stage's tasks on another thread, one after another, in the order given. */
@FunctionalInterface
public interface Aside extends Executor {
    /** Called on the stage's thread after it has waited {@code nanos} nanoseconds for such a task. */
    default void waited(long nanos) {
    }
}
