package dev.troupe.run.news;

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
 * The detector of stalls in a run: it reports each stall as an event, and writes a drawing of it. Thread rule: the
 * coordinator's thread.
 */
public final class Standstills {
    private final TrainingPlan plan;
    private final Path directory;
    private final Duration timeout;
    private final Duration hangTimeout;
    private final LongSupplier clock;
    private StallWatch watch;

    /**
     * @param directory the directory of the run, for the drawing
     * @param timeout the longest wait for a message
     * @param hangTimeout the longest time in which a computing rank makes no progress; zero: unlimited
     * @param clock nanoseconds
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

    /**
     * Begins an epoch.
     *
     * @param longestKernelNanos the longest time of a kernel, in which its rank reports no progress
     */
    public void begin(long longestKernelNanos) {
        watch = new StallWatch(plan.rankCount(), timeout.toNanos(), hangTimeout.toNanos(), longestKernelNanos,
                clock.getAsLong());
    }

    public void onStatus(RankStatus status) {
        watch.onStatus(status, clock.getAsLong());
    }

    /** Records progress of a checkpoint for which ranks may wait. */
    public void onMoved() {
        watch.onMoved(clock.getAsLong());
    }

    /**
     * Returns the event of a stall: a failure of the rank that causes it, or a lost message; empty if the run progresses.
     */
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
