package dev.troupe.parallel;

import java.util.concurrent.Executor;

/** Runs what a stage has done aside while its thread computes; one task after another, in the order given. */
@FunctionalInterface
public interface Aside extends Executor {
    /** The stage's thread has waited {@code nanos} nanoseconds for work that was begun. Called on that thread. */
    default void waited(long nanos) {
    }
}
