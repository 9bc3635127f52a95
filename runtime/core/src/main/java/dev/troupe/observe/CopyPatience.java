package dev.troupe.observe;

import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.run.RunMachine;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How long an update waits for copies of snapshots: a node that is too slow with them holds the run up no longer. One
 * thread.
 */
public final class CopyPatience {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Since when an update waits; zero while none does. */
    private long sinceNanos;

    /** The event for the run about the copies that its next update waits for. */
    public Optional<RunEvent> look(RunMachine machine, long nowNanos) {
        List<Integer> awaited = machine.awaitsCopiesOf();
        if (!isOver(awaited, nowNanos)) {
            return Optional.empty();
        }
        EventLog.ofRun(machine.epoch(), machine.stepsDone(), sentence(awaited));
        return Optional.of(new RunEvent.CopiesLate());
    }

    /** Whether copies of these ranks have been waited for long enough; then the wait begins anew. */
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

    /** The sentence about copies that did not come. */
    private static String sentence(List<Integer> ranks) {
        return "copies of what ranks " + ranks + " kept do not come to other nodes within " + PATIENCE.toSeconds()
                + " seconds; the run goes on without them, and would not outlive the loss of these ranks' nodes";
    }
}
