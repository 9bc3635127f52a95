package dev.troupe.run;

import dev.troupe.config.spec.CommitSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.UpdateSpec;
import dev.troupe.config.spec.update.LearningRateSpec;
import dev.troupe.optimizer.LearningRate;
import dev.troupe.plan.EmulatedCosts;
import dev.troupe.plan.ExpectedTimes;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.ResumedState;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.rank.bits.OutputPlace;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.CoordinatorSetup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The setup of a prepared run's coordinator, in one process or in a cluster. */
public final class CoordinatorOf {
    private CoordinatorOf() {
    }

    /**
     * Returns the setup; see {@link CoordinatorSetup} for its parts.
     *
     * @param directory the directory that the run writes to
     */
    public static CoordinatorSetup run(PreparedRun run, Roster roster, int term, Supplier<Set<String>> present,
            Path directory, LongSupplier clock, RunListener listener, EarlierSteps earlier,
            CompletableFuture<RunOutcome> outcome) {
        int microbatchSize = run.spec().training().microbatchSize();
        CommitSpec commits = run.spec().training().commits();
        return new CoordinatorSetup(settings(run), run.plan(), roster, term, present,
                new CoordinatorSetup.Files(directory, run.checkpointsFound(), checkpoints(run, directory),
                        run.planned().leavesWeights() ? commits.checkpointInterval() : Duration.ZERO),
                new CoordinatorSetup.Patience(run.spec().transport().timeout(), hangTimeout(run), clock),
                new CoordinatorSetup.Reporting(listener, earlier, OutputPlace.of(run.plan(), run.batches()),
                        expectation(run), step -> run.batches().lengths(step, microbatchSize)),
                outcome);
    }

    public static RunSettings settings(PreparedRun run) {
        PlannedRun planned = run.planned();
        TrainingPlan plan = run.plan();
        TrainingSpec training = run.spec().training();
        UpdateSpec update = training.update();
        return new RunSettings(plan.rankCount(), run.stepsDone(), training.steps(),
                learningRate(update.learningRate())::at, update.gradientClip(),
                ResumedState.lossScale(update.lossScale(), run.start().lossScale()), run.validateEvery(),
                planned.leavesWeights() ? training.commits().checkpointEvery() : 0,
                run.request().continuesInPlace() ? run.stepsDone() : -1, planned.leavesWeights(), plan.places(),
                planned.recovers() ? run.spec().recovery().mostPerStep() : 0, plan.stepsPerPass(),
                plan.training().plan().stagesUpdateAlone());
    }

    static CheckpointStore checkpoints(PreparedRun run, Path directory) {
        return new CheckpointStore(directory, run.model(), run.engine().settings().products(),
                run.spec().training().commits().keepCheckpoints(),
                run.planned().checkpointBytes()).ofReplicas(run.plan().replicas());
    }

    private static LearningRate learningRate(LearningRateSpec spec) {
        return switch (spec.schedule()) {
            case CONSTANT -> new LearningRate.Constant(spec.peak(), spec.warmupSteps());
            case COSINE ->
                new LearningRate.Cosine(spec.peak(), spec.minimum(), spec.warmupSteps(), spec.decaySteps());
            case LINEAR ->
                new LearningRate.Linear(spec.peak(), spec.minimum(), spec.warmupSteps(), spec.decaySteps());
            case WSD -> new LearningRate.Wsd(spec.peak(), spec.minimum(), spec.warmupSteps(), spec.stableSteps(),
                    spec.decaySteps());
        };
    }

    /** Returns the expected relative computing time of each stage. */
    private static ExpectedTimes expectation(PreparedRun run) {
        return new ExpectedTimes(run.engine().computes()
                ? EmulatedCosts.ofOperations(run.plan())
                : run.engine().settings().costs());
    }

    /** Returns the hang timeout of a rank; zero, for no limit, in an experiment. */
    private static Duration hangTimeout(PreparedRun run) {
        return run.planned().leavesWeights() ? run.spec().recovery().hangTimeout() : Duration.ZERO;
    }
}
