package dev.troupe.parallel;

import java.util.concurrent.Executor;

/** The executor of a stage's work next to the computing of its thread; one task after another, in the order given. */
@FunctionalInterface
public interface Aside extends Executor {
    /** The stage's thread has waited {@code nanos} nanoseconds for work that was begun. Called on that thread. */
    default void waited(long nanos) {
    }
}
