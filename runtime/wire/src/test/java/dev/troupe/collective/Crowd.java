package dev.troupe.collective;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs the parts of all members of a group at once, each on a thread of its own. */
public final class Crowd {
    private static final long TIMEOUT_SECONDS = 60;

    private Crowd() {
    }

    /** The part of a member. */
    public interface Part<G> {
        void play(G group) throws Exception;
    }

    /** Plays every member's part; the first failure is thrown. */
    public static <G> void play(List<G> members, Part<G> part) {
        for (Throwable failure : failures(members, part)) {
            if (failure != null) {
                throw new AssertionError("a member failed", failure);
            }
        }
    }

    /** Plays every member's part; returns how each failed, null where it did not. */
    public static <G> List<Throwable> failures(List<G> members, Part<G> part) {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<Void>> parts = new ArrayList<>();
            for (G member : members) {
                Callable<Void> task = () -> {
                    part.play(member);
                    return null;
                };
                parts.add(threads.submit(task));
            }
            List<Throwable> failures = new ArrayList<>();
            for (Future<Void> each : parts) {
                failures.add(failure(each));
            }
            return failures;
        }
    }

    private static Throwable failure(Future<Void> part) {
        try {
            part.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            return null;
        } catch (ExecutionException failed) {
            return failed.getCause();
        } catch (TimeoutException | InterruptedException hung) {
            throw new AssertionError("a member neither returned nor failed", hung);
        }
    }
}
