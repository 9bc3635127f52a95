package dev.troupe.look.compare;

import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The order in which runs of one process do their steps: a step of the first, a step of the second, and again from the
 * first, so that a busy minute of the machine is in the times of all.
 *
 * <p>Thread rule: any thread; each run has threads of its own. A wait ends with the turn, or with the first failure of a
 * run; a step of another run has no limit here, as the runs have none.
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

    /** Waits until the runs before this one have their weights: one loads at a time. */
    synchronized void awaitLoad(int run) {
        await(() -> loaded == run);
    }

    /** Takes note that the next run has its weights; waits for its first turn, which begins when all have theirs. */
    synchronized void loaded(int run) {
        loaded++;
        notifyAll();
        await(() -> loaded == runs && turn == run);
    }

    /** Ends a step of a run; waits for its next turn, or after its last step until all runs have done theirs. */
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
