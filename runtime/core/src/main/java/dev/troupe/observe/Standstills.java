package dev.troupe.observe;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.run.RunMachine;
import dev.troupe.protocol.watch.RankStatus;
import dev.troupe.protocol.watch.StallWatch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Watches a run that has begun for stalls, and draws each one. Belongs to the coordinator.
 */
public final class Standstills {
    private final TrainingPlan plan;
    private final Path directory;
    private final Duration timeout;
    private final Duration hangTimeout;
    private final LongSupplier clock;
    private StallWatch watch;

    /**
     * Watches a run.
     *
     * @param directory of the run, which takes the drawing
     * @param timeout the longest wait for a message
     * @param hangTimeout the longest time without a beat of a rank that computes; zero for no limit
     * @param clock nanoseconds
     * @param longestKernelNanos the time of the longest kernel
     */
    public Standstills(TrainingPlan plan, Path directory, Duration timeout, Duration hangTimeout, LongSupplier clock,
            long longestKernelNanos) {
        this.plan = plan;
        this.directory = directory;
        this.timeout = timeout;
        this.hangTimeout = hangTimeout;
        this.clock = clock;
        begin(longestKernelNanos);
    }

    /** An epoch begins; a kernel takes at most this time. */
    public void begin(long longestKernelNanos) {
        watch = new StallWatch(plan.rankCount(), timeout.toNanos(), hangTimeout.toNanos(), longestKernelNanos,
                clock.getAsLong());
    }

    public void onStatus(RankStatus status) {
        watch.onStatus(status, clock.getAsLong());
    }

    /** A checkpoint moves that ranks may be waiting for. */
    public void onMoved() {
        watch.onMoved(clock.getAsLong());
    }

    /** The event of a stall, for the run's machine; empty while the run moves. */
    public Optional<RunEvent> look(RunMachine machine) {
        return watch.stall(clock.getAsLong()).map(stall -> {
            String sentence = StallFile.write(directory, plan, machine.epoch(), machine.stepsDone(),
                    stall);
            return stall.rank().isPresent()
                    ? new RunEvent.RankFailed(machine.incarnation(stall.rank().getAsInt()), sentence)
                    : new RunEvent.MessageLost(machine.epoch(), sentence);
        });
    }
}
