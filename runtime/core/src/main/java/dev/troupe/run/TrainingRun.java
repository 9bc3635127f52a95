package dev.troupe.run;

import dev.troupe.plan.UsageException;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.rank.bits.GradientDump;
import dev.troupe.rank.fault.FaultInjector;
import dev.troupe.rank.fault.ProcessDamage;
import dev.troupe.rank.group.NodeGroups;
import dev.troupe.run.actor.NodeSetup;
import dev.troupe.run.actor.TrainingCoordinator;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.CoordinatorSetup;
import dev.troupe.run.setup.Neighbours;
import dev.troupe.run.setup.RunPosition;
import dev.troupe.transport.Transport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of a started run in one JVM: all its ranks ({@link #start}), or the ranks of one node of a cluster ({@code
 * dev.troupe.run.cluster}). Thread rule: {@link #await} on one thread, the other methods on any.
 */
public final class TrainingRun {
    private static final Logger LOG = LoggerFactory.getLogger(TrainingRun.class);

    /** Longer than the close of the transport and the end of all ranks' threads take together. */
    private static final Duration SHUTDOWN = Duration.ofSeconds(60);

    /** Longer than a coordinator takes to answer a message. */
    private static final Duration UNLED = Duration.ofSeconds(5);

    private static final String ONLY_NODE = "node-0";
    /** The term of the coordinator of a run in one process, which never has a successor. */
    private static final int ONLY_TERM = 1;

    private final CompletableFuture<RunOutcome> outcome;
    private final RunActors actors;
    private final RunPosition position;
    private final long stepsBefore;

    /**
     * @param outcome completed by the actors when the run is over
     * @param position the progress of the run as this node knows it
     * @param whyEnded the reason if the actors end without completing the outcome
     */
    public TrainingRun(RunActors actors, CompletableFuture<RunOutcome> outcome, RunPosition position,
            long stepsBefore, Supplier<String> whyEnded) {
        this.actors = actors;
        this.outcome = outcome;
        this.position = position;
        this.stepsBefore = stepsBefore;
        // Any end of the actors completes the outcome, so that no thread waits for ever.
        Runnable ended = () -> outcome.complete(new RunOutcome(stepsBefore, Optional.of(whyEnded.get())));
        actors.beforeEnd(ended);
        actors.whenEnded().whenComplete((_, _) -> ended.run());
    }

    /**
     * Runs each kernel of the run's ranks in this process once, with its real shape, and frees all memory. It is called
     * before the run's directory is created.
     *
     * @throws UsageException if this machine cannot run a kernel, or the class path lacks a part of the actors' defaults
     * @throws InterruptedException if this thread was interrupted
     */
    public static WarmUpReport warmUp(PreparedRun run) throws InterruptedException {
        ActorSystems.ofOneProcess();
        WarmUpReport report = NodeWarmUp.start(run, IntStream.range(0, run.plan().rankCount()).boxed().toList())
                .await();
        if (report.refusal().isPresent()) {
            throw new UsageException(report.refusal().get());
        }
        return report;
    }

    /**
     * Starts a run in its own actor system, with one coordinator and one node.
     *
     * @param transport carries the tensors; the run closes it
     * @param warmUp the result of {@link #warmUp}
     */
    public static TrainingRun start(PreparedRun run, RunDirectory directory, Transport transport, WarmUpReport warmUp,
            RunListener listener) {
        return start(run, directory, transport, warmUp, listener, Optional.empty());
    }

    /**
     * As {@link #start(PreparedRun, RunDirectory, Transport, WarmUpReport, RunListener)}, in the actor system of a program.
     *
     * @param host the system, which continues after the run; empty: one of the run's own
     */
    public static TrainingRun start(PreparedRun run, RunDirectory directory, Transport transport, WarmUpReport warmUp,
            RunListener listener, Optional<ActorSystem<?>> host) {
        RunPosition position = new RunPosition();
        CompletableFuture<RunOutcome> outcome = new CompletableFuture<>();
        Optional<GradientDump> gradients = run.request().gradientsOf().isPresent()
                ? Optional.of(new GradientDump(run.request().gradientsOf().getAsLong(),
                        directory.gradients(run.request().gradientsOf().getAsLong()),
                        run.plan().gradientWriters()))
                : Optional.empty();
        Duration timeout = run.spec().transport().timeout();
        NodeParts parts = NodeParts.open(run, deadline -> NodeGroups.ofOneNode(run.plan().ranks(), deadline), false);
        FaultInjector faults = FaultInjector.of(run.spec().faults(), directory.path(), ONLY_NODE, new ProcessDamage());
        NodeSetup node = new NodeSetup(ONLY_NODE, Map.of(), timeout, run.plan().stepsPerPass(), Neighbours.none(),
                () -> warmUp,
                path -> parts.context(run, path, NodeParts.faulty(run, transport, faults, _ -> true)
                        .<Transport>map(faulty -> faulty).orElse(transport), gradients, faults),
                transport, parts::close, new NodeSetup.Reports(position, outcome::complete, Optional.empty()));
        List<Integer> ranks = IntStream.range(0, run.plan().rankCount()).boxed().toList();
        CoordinatorSetup setup = CoordinatorOf.run(run,
                new Roster(Map.of(ONLY_NODE, ranks), Map.of(), timeout, ReplicaTable.Buddies.NONE), ONLY_TERM,
                () -> Set.of(ONLY_NODE), directory.path(), faults.clock(System::nanoTime), listener, EarlierSteps.NONE,
                outcome);
        try {
            var config = ActorSystems.ofOneProcess();
            RunActors actors = host.map(system -> RunActors.guest(system, config, node, RunActors.child(setup)))
                    .orElseGet(() -> RunActors.own("troupe", config, node, RunActors.child(setup)));
            return new TrainingRun(actors, outcome, position, run.stepsDone(), position::whyEnded);
        } catch (Exception | Error failure) { // Scala throws checked exceptions past the compiler
            parts.close();
            throw UserErrors.ofStart("this process", failure);
        }
    }

    /** Returns the committed steps that this JVM knows of. */
    public long stepsDone() {
        return Math.max(stepsBefore, position.stepsDone());
    }

    /** Returns the committed steps; empty if this JVM is not part of a run that has begun. */
    public OptionalLong progress() {
        return position.isOpen() ? OptionalLong.of(stepsDone()) : OptionalLong.empty();
    }

    /** Restarts the time limit for joining, since a launcher reports that another node still starts. */
    public void othersStart() {
        actors.tell(new TrainingCoordinator.OthersStart());
    }

    /** Requests the end of the run after the current step, with a checkpoint, without a time limit. */
    public void stop() {
        actors.tell(new TrainingCoordinator.Stop(false));
    }

    /**
     * Requests the end of the run at once, without a checkpoint. Without a coordinator its part in this JVM ends after some
     * seconds.
     */
    public void stopNow() {
        actors.tell(new TrainingCoordinator.Stop(true));
        outcome.completeOnTimeout(new RunOutcome(stepsBefore, Optional.empty()), UNLED.toSeconds(), TimeUnit.SECONDS);
    }

    /**
     * Waits for the end of the run. All its threads, memory and files are released then, except what a hanging stage holds.
     * The run itself bounds the wait, since a stalled run ends itself.
     *
     * @throws InterruptedException if this thread was interrupted; the run then ends without a checkpoint
     */
    public RunOutcome await() throws InterruptedException {
        try {
            RunOutcome ended = withCause(outcome.get());
            actors.end();
            actors.whenEnded().get(SHUTDOWN.toSeconds(), TimeUnit.SECONDS);
            return ended;
        } catch (InterruptedException interrupted) {
            actors.end();
            throw interrupted;
        } catch (ExecutionException failure) {
            throw new IllegalStateException("an outcome is never an exception", failure);
        } catch (TimeoutException late) {
            LOG.warn("the actors did not end within {} s after the run did: a stage still computes",
                    SHUTDOWN.toSeconds());
            return withCause(outcome.join());
        }
    }

    private RunOutcome withCause(RunOutcome ended) {
        return ended.failure().filter(_ -> ended.cause().isEmpty()).flatMap(
                reason -> position.causeOf(reason).map(cause -> RunOutcome.failed(ended.stepsDone(), reason, cause)))
                .orElse(ended);
    }
}
