package dev.troupe.run.setup;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.membership.Surroundings;
import dev.troupe.protocol.watch.PaceWatch;
import dev.troupe.protocol.watch.StragglerWatch;
import dev.troupe.rank.bits.OutputPlace;
import dev.troupe.rank.bits.StepsOfBits;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.rank.trace.StepTraces;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.LossSpikes;
import dev.troupe.run.news.MachineLoads;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.news.RunReports;
import dev.troupe.run.news.Standstills;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The setup of the coordinator of a run.
 *
 * @param settings the steps, checkpoints and limits of the run
 * @param term the term of the coordinator, above 0: of two coordinators of a run the later one has the higher term
 * @param present supplies all known nodes, joined or not
 * @param outcome completed when the run is over
 */
public record CoordinatorSetup(RunSettings settings, TrainingPlan plan, Roster roster, int term,
        Supplier<Set<String>> present, Files files, Patience patience, Reporting reporting,
        CompletableFuture<RunOutcome> outcome) {
    /**
     * The files of the run.
     *
     * @param found step numbers of the checkpoints that were in the directory at the start, damaged ones included
     * @param checkpointInterval the maximum age of the last checkpoint; zero: unlimited
     */
    public record Files(Path directory, Set<Long> found, CheckpointStore checkpoints, Duration checkpointInterval) {
    }

    /**
     * The limits on the time without progress.
     *
     * @param timeout time without progress after which the run is stalled
     * @param hangTimeout time in one action after which a rank is suspected to hang; zero: never
     * @param clock nanoseconds of a monotonic clock
     */
    public record Patience(Duration timeout, Duration hangTimeout, LongSupplier clock) {
        private static final int TICKS_PER_TIMEOUT = 20;
        /** Above four, since an interval between two looks counts at most as a quarter of the hang timeout. */
        private static final int TICKS_PER_HANG = 5;

        /** Returns the interval at which the coordinator looks for stalls. */
        public Duration tickEvery() {
            Duration every = timeout.dividedBy(TICKS_PER_TIMEOUT);
            Duration ofHang = hangTimeout.dividedBy(TICKS_PER_HANG);
            return hangTimeout.isPositive() && ofHang.compareTo(every) < 0 ? ofHang : every;
        }
    }

    /**
     * The reports of the run.
     *
     * @param listener receives the news of the run
     * @param earlier the steps that another process reported before
     * @param places the text for the outputs of a step
     * @param expectation the predicted times of stages, for stragglers that were slow from the first step
     */
    public record Reporting(RunListener listener, EarlierSteps earlier, OutputPlace places,
            StragglerWatch.Expectation expectation, StepTimes.Lengths lengths) {
    }

    public Surroundings surroundings() {
        return new Surroundings() {
            @Override
            public long nowNanos() {
                return patience.clock().getAsLong();
            }

            @Override
            public Set<String> present() {
                return present.get();
            }

            @Override
            public OptionalLong newestCheckpoint() {
                return Checkpoint.steps(files.directory()).filter(steps -> !files.found().contains(steps)).findFirst();
            }

            @Override
            public long committedSteps() {
                return reporting.earlier().committed();
            }
        };
    }

    public RunReports reports() {
        return new RunReports(reporting.listener(), reporting.places(), patience.clock(),
                new StragglerWatch(reporting.expectation(), MachineLoads::now),
                new PaceWatch(roster.hosts(), reporting.earlier().seconds()),
                new StepTraces(StepTimes.Rows.of(plan.training().plan(), plan.ranks().data(), plan.ranks().tensor()),
                        reporting.lengths()),
                new StepsOfBits(plan), new LossSpikes(plan));
    }

    /** Returns the watch over a run that begins, or has a new coordinator. */
    public Standstills standstills(long longestKernelNanos) {
        return new Standstills(plan, files.directory(), patience.timeout(), patience.hangTimeout(), patience.clock(),
                longestKernelNanos);
    }
}
