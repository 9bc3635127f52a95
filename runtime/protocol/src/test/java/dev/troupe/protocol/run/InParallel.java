package dev.troupe.protocol.run;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * Trials in parallel. The failure of a trial is thrown as it is, with the command that repeats it in its message: a parallel
 * stream throws a copy in its place, and the copy of an {@link AssertionError} has no message.
 */
final class InParallel {
    private InParallel() {
    }

    /** Returns the sum over all trials; none begins after one has failed. */
    static <T> long sum(Stream<T> all, ToLongFunction<T> trial) {
        AtomicReference<AssertionError> failure = new AtomicReference<>();
        long sum = all.parallel().mapToLong(one -> {
            if (failure.get() != null) {
                return 0;
            }
            try {
                return trial.applyAsLong(one);
            } catch (AssertionError failed) {
                failure.compareAndSet(null, failed);
                return 0;
            }
        }).sum();
        if (failure.get() != null) {
            throw failure.get();
        }
        return sum;
    }

    /** Tries all; no trial begins after one has failed. */
    static <T> void all(Stream<T> all, Consumer<T> trial) {
        sum(all, one -> {
            trial.accept(one);
            return 0;
        });
    }
}
