package dev.troupe.actor;

import dev.troupe.bits.StepsOfBits;
import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.checkpoint.CheckpointStore;
import dev.troupe.observe.LossSpikes;
import dev.troupe.observe.MachineLoads;
import dev.troupe.observe.RunListener;
import dev.troupe.observe.RunOutcome;
import dev.troupe.observe.RunReports;
import dev.troupe.observe.Standstills;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.membership.Surroundings;
import dev.troupe.protocol.watch.StragglerWatch;
import dev.troupe.schedule.idle.StepTimes;
import dev.troupe.trace.StepTraces;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What a {@link TrainingCoordinator} works with.
 *
 * @param settings what the run is to do
 * @param plan how it is done
 * @param roster the nodes of the run
 * @param term the term of the coordinator, above 0: of two coordinators of a run the later one has the higher term
 * @param present tells the nodes that there are, whether they have joined or not
 * @param directory where the run writes
 * @param found how many steps lie behind each checkpoint that was there before the run went on in the directory,
 *     damaged or not
 * @param checkpoints takes checkpoints
 * @param timeout how long nothing may move
 * @param hangTimeout how long a rank may be at one thing before it is asked whether it hangs; zero for as long as it
 *     likes
 * @param checkpointInterval how old the last checkpoint may become; zero for as old as it likes
 * @param clock nanoseconds of a monotonic clock
 * @param expectation how long a stage should compute as against others, by which stragglers are known that were never
 *     faster
 * @param lengths the lengths of the microbatches of each step
 * @param listener hears how the run goes
 * @param outcome completed when the run is over
 */
public record CoordinatorSetup(RunSettings settings, TrainingPlan plan, Roster roster, int term,
        Supplier<Set<String>> present,
        Path directory, Set<Long> found, CheckpointStore checkpoints, Duration timeout,
        Duration hangTimeout,
        Duration checkpointInterval, LongSupplier clock, StragglerWatch.Expectation expectation,
        StepTimes.Lengths lengths, RunListener listener,
        CompletableFuture<RunOutcome> outcome) {
    private static final int TICKS_PER_TIMEOUT = 20;
    /** More than four: of the time between two looks a quarter of the hang timeout counts at most. */
    private static final int TICKS_PER_HANG = 5;

    /** Returns the time between two looks of the coordinator. */
    Duration tickEvery() {
        Duration every = timeout.dividedBy(TICKS_PER_TIMEOUT);
        Duration ofHang = hangTimeout.dividedBy(TICKS_PER_HANG);
        return hangTimeout.isPositive() && ofHang.compareTo(every) < 0 ? ofHang : every;
    }

    /** The cluster and the directory of the run as its membership sees them. */
    Surroundings surroundings() {
        return new Surroundings() {
            @Override
            public long nowNanos() {
                return clock.getAsLong();
            }

            @Override
            public Set<String> present() {
                return present.get();
            }

            @Override
            public OptionalLong newestCheckpoint() {
                return Checkpoint.steps(directory).filter(steps -> !found.contains(steps)).findFirst();
            }

            @Override
            public long committedSteps() {
                return listener.committedSteps();
            }
        };
    }

    /** Returns the reports of the run to its listener. */
    RunReports reports() {
        return new RunReports(listener, clock, new StragglerWatch(expectation, MachineLoads::now), roster.hosts(),
                new StepTraces(StepTimes.Rows.of(plan.training().plan(), plan.ranks().data(), plan.ranks().tensor()),
                        lengths),
                new StepsOfBits(plan), new LossSpikes(plan));
    }

    /** Returns the watch over a run that begins, or has a new coordinator; its longest kernel takes as long as this. */
    Standstills standstills(long longestKernelNanos) {
        return new Standstills(plan, directory, timeout, hangTimeout, clock, longestKernelNanos);
    }
}
