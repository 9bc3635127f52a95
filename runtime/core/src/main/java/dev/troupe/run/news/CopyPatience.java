package dev.troupe.run.news;

import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.run.RunMachine;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The limit on an update's wait for copies of snapshots, so that a slow node does not delay the run. Thread rule: one
 * thread.
 */
public final class CopyPatience {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** The time at which an update began to wait; zero if none waits. */
    private long sinceNanos;

    /** Returns the event of a wait that is over its limit. */
    public Optional<RunEvent> look(RunMachine machine, long nowNanos) {
        List<Integer> awaited = machine.awaitsCopiesOf();
        if (!isOver(awaited, nowNanos)) {
            return Optional.empty();
        }
        EventLog.ofRun(machine.epoch(), machine.stepsDone(), sentence(awaited));
        return Optional.of(new RunEvent.CopiesLate());
    }

    /** Returns whether the wait for copies of these ranks is over its limit; if so, the next wait begins. */
    private boolean isOver(List<Integer> awaited, long nowNanos) {
        if (awaited.isEmpty()) {
            sinceNanos = 0;
        } else if (sinceNanos == 0) {
            sinceNanos = nowNanos;
        }
        boolean isOver = sinceNanos != 0 && nowNanos - sinceNanos > PATIENCE.toNanos();
        if (isOver) {
            sinceNanos = 0;
        }
        return isOver;
    }

    private static String sentence(List<Integer> ranks) {
        return "the snapshots of ranks " + ranks + " were not copied to other nodes within " + PATIENCE.toSeconds()
                + " seconds; the run continues without them, and would not survive the loss of these ranks' nodes";
    }
}
