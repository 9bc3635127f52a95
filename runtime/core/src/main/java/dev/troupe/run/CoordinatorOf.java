package dev.troupe.run;

import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.rank.bits.OutputPlace;
import dev.troupe.run.actor.CoordinatorSetup;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunOutcome;
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
        return new CoordinatorSetup(run.settings(), run.plan(), roster, term, present,
                new CoordinatorSetup.Files(directory, run.checkpointsFound(), TrainingRun.checkpoints(run, directory),
                        run.checkpointInterval()),
                new CoordinatorSetup.Patience(run.spec().transport().timeout(), hangTimeout(run), clock),
                new CoordinatorSetup.Reporting(listener, earlier, OutputPlace.of(run.plan(), run.batches()),
                        run.expectation(), step -> run.batches().lengths(step, microbatchSize)),
                outcome);
    }

    /** Returns the hang timeout of a rank; zero, for no limit, in an experiment. */
    private static Duration hangTimeout(PreparedRun run) {
        return run.leavesWeights() ? run.spec().recovery().hangTimeout() : Duration.ZERO;
    }
}
