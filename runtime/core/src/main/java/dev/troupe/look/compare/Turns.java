package dev.troupe.look.compare;

import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The order in which runs of one process do their steps: one step of each run, then again from the first. So a busy minute
 * of the machine is in the times of all. Thread rule: any thread. A wait ends with the turn, or with the first failure of a
 * run. It has no other limit, since a step has none.
 */
final class Turns {
    private final int runs;
    private final long turns;
    private int loaded;
    private long turn;
    private RuntimeException failure;

    Turns(int runs, int steps) {
        this.runs = runs;
        this.turns = (long) runs * steps;
    }

    /** Waits until the earlier runs have loaded their weights: one loads at a time. */
    synchronized void awaitLoad(int run) {
        await(() -> loaded == run);
    }

    /** Records that a run has loaded its weights; waits for its first turn, which begins when all have loaded. */
    synchronized void loaded(int run) {
        loaded++;
        notifyAll();
        await(() -> loaded == runs && turn == run);
    }

    /** Ends a step of a run; waits for its next turn, or after its last step for the end of all runs. */
    synchronized void pass(int run) {
        turn++;
        notifyAll();
        await(() -> turn >= turns || turn % runs == run);
    }

    /** Ends all waits, since a run has failed. */
    synchronized void fail(RuntimeException why) {
        if (failure == null) {
            failure = why;
        }
        notifyAll();
    }

    synchronized Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }

    private void await(BooleanSupplier isDue) {
        while (failure == null && !isDue.getAsBoolean()) {
            try {
                wait();
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
                fail(new ComparisonException("the comparison was stopped"));
            }
        }
        if (failure != null) {
            throw new ComparisonException("another schedule ended the comparison: " + failure.getMessage());
        }
    }
}
