package dev.troupe.actor;

import dev.troupe.checkpoint.CheckpointException;
import dev.troupe.checkpoint.CheckpointStore;
import dev.troupe.machine.Cast;
import dev.troupe.machine.CoordinatorCommand;
import dev.troupe.machine.CoordinatorEvent;
import dev.troupe.machine.CoordinatorMachine;
import dev.troupe.machine.Hosting;
import dev.troupe.machine.Incarnation;
import dev.troupe.machine.Muster;
import dev.troupe.machine.Pass;
import dev.troupe.machine.Recovery;
import dev.troupe.machine.RankStatus;
import dev.troupe.machine.RunOrder;
import dev.troupe.machine.StallWatch;
import dev.troupe.machine.StepResult;
import dev.troupe.run.RunListener;
import dev.troupe.run.RunOutcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * Leads a run: the shell around its {@link CoordinatorMachine}. It places ranks, starts passes, commits steps and
 * checkpoints, and ends the run when a rank fails or nothing moves any more.
 */
public final class TrainingCoordinator extends AbstractBehavior<TrainingCoordinator.Command> {
    /** What the coordinator is told. */
    public sealed interface Command {
    }

    /** A node wants to take part; its traits must be those of the coordinator's node. */
    record NodeJoined(ActorRef<NodeActor.Command> node, String name, Map<String, String> traits) implements Command {
    }

    /** A rank lives. */
    record RankHosted(Incarnation rank, ActorRef<ScheduleActor.Command> schedule) implements Command {
    }

    /** A rank has come so far. */
    record Happened(CoordinatorEvent event) implements Command {
    }

    /** A node cannot host what it was told to, for the reason in this sentence. */
    record NodeFailed(String name, String reason) implements Command {
    }

    /** What a rank says of itself. */
    record StatusTold(RankStatus status) implements Command {
    }

    /** End after the step that is under way, with a checkpoint. */
    public record Stop() implements Command {
    }

    private record NodeEnded(String name) implements Command {
    }

    private record Tick() implements Command {
    }

    /**
     * What the coordinator works with.
     *
     * @param order
     *            what the run is to do
     * @param cast
     *            the nodes of the run
     * @param directory
     *            where the run writes
     * @param checkpoints
     *            where checkpoints go
     * @param timeout
     *            how long nothing may move
     * @param hangTimeout
     *            how long a rank may be at one thing before it is asked whether it hangs; zero for as long as it likes
     * @param clock
     *            nanoseconds of a monotonic clock
     * @param listener
     *            hears how the run goes
     * @param outcome
     *            completed when the run is over
     */
    public record Setup(RunOrder order, Cast cast, Path directory, CheckpointStore checkpoints, Duration timeout,
            Duration hangTimeout, LongSupplier clock,
            RunListener listener, CompletableFuture<RunOutcome> outcome) {
    }

    private static final int TICKS_PER_TIMEOUT = 20;
    private static final Duration COPY_PATIENCE = Duration.ofSeconds(10);

    private final Setup setup;
    private final TimerScheduler<Command> timers;
    private final Hosting hosting;
    private final CoordinatorMachine machine;
    private final Muster muster;
    private final Recoveries recoveries = new Recoveries(System::currentTimeMillis);
    /** There once all nodes have joined: nothing can stand still before. */
    private Optional<StallWatch> stallWatch = Optional.empty();
    private final Map<String, ActorRef<NodeActor.Command>> nodes = new TreeMap<>();
    private final Map<Integer, ActorRef<ScheduleActor.Command>> ranks = new HashMap<>();
    private boolean started;
    private long stepStartNanos;
    /** The last step, and the last look at held-out data, that the listener has heard of. */
    private long reported = -1;
    private long heldOutReported = -1;
    /** Since when the next update waits for copies; zero while it does not. */
    private long copiesAwaitedNanos;

    private TrainingCoordinator(ActorContext<Command> context, TimerScheduler<Command> timers, Setup setup) {
        super(context);
        this.setup = setup;
        this.timers = timers;
        this.hosting = new Hosting(setup.cast().hosts(), setup.cast().keepers(), setup.order().firstStep());
        this.machine = new CoordinatorMachine(setup.order(), hosting);
        this.muster = new Muster(setup.cast(), setup.clock().getAsLong());
        startNextTick();
    }

    /** Waits for the nodes, has each host its ranks, and leads them to the end of the run. */
    public static Behavior<Command> create(Setup setup) {
        return Behaviors.setup(
                context -> Behaviors.withTimers(timers -> new TrainingCoordinator(context, timers, setup)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(NodeJoined.class, this::onNodeJoined)
                .onMessage(RankHosted.class, this::onRankHosted).onMessage(Happened.class, this::onHappened)
                .onMessage(NodeFailed.class, this::onNodeFailed)
                .onMessage(StatusTold.class, this::onStatusTold)
                .onMessage(Stop.class, _ -> onStop())
                .onMessage(NodeEnded.class, this::onNodeEnded).onMessage(Tick.class, _ -> onTick()).build();
    }

    /** One at a time, so that ticks do not pile up where the coordinator is held up. */
    private void startNextTick() {
        timers.startSingleTimer(new Tick(), setup.timeout().dividedBy(TICKS_PER_TIMEOUT));
    }

    private Behavior<Command> onNodeJoined(NodeJoined joined) {
        Optional<String> refusal = muster.join(joined.name(), joined.traits());
        if (refusal.isPresent()) {
            EventLog.ofRun(machine.epoch(), machine.stepsDone(), refusal.get());
            joined.node().tell(new NodeActor.Refused(refusal.get()));
            return this;
        }
        nodes.put(joined.name(), joined.node());
        EventLog.ofRun(machine.epoch(), machine.stepsDone(), "node " + joined.name() + " has joined");
        getContext().watchWith(joined.node(), new NodeEnded(joined.name()));
        if (!muster.isComplete()) {
            setup.listener().onWaiting(muster.missing());
        } else if (stallWatch.isPresent()) {
            return host(List.of(joined.name())); // a standby, later than the others
        } else {
            stallWatch = Optional.of(newStallWatch());
            return host(muster.joined());
        }
        return this;
    }

    private Behavior<Command> host(List<String> names) {
        for (String name : names) {
            nodes.get(name).tell(new NodeActor.HostRanks(hosting.hosts(), setup.directory().toString(),
                    getContext().getSelf()));
        }
        for (String name : names) {
            Behavior<Command> next = take(new CoordinatorEvent.NodeJoined(name));
            if (next != this) {
                return next;
            }
        }
        return this;
    }

    private Behavior<Command> onStop() {
        return stallWatch.isEmpty()
                ? end(Optional.of("it was stopped while it waited for nodes: " + String.join(", ", muster.missing())))
                : take(new CoordinatorEvent.StopRequested());
    }

    private Behavior<Command> onNodeEnded(NodeEnded ended) {
        nodes.remove(ended.name());
        muster.leave(ended.name());
        EventLog.ofRun(machine.epoch(), machine.stepsDone(), "node " + ended.name() + " is gone");
        String reason = "node " + ended.name() + " ended before the run did; its log says why";
        if (stallWatch.isEmpty()) {
            return setup.cast().ranks().get(ended.name()).isEmpty() ? this : end(Optional.of(reason));
        }
        return take(new CoordinatorEvent.NodeLost(ended.name(), reason));
    }

    private Behavior<Command> onRankHosted(RankHosted hosted) {
        int rank = hosted.rank().rank();
        if (hosted.rank().equals(machine.incarnation(rank))) { // or it was given up since
            ranks.put(rank, hosted.schedule());
        }
        return this;
    }

    private Behavior<Command> onHappened(Happened happened) {
        return take(happened.event());
    }

    private Behavior<Command> take(CoordinatorEvent event) {
        try {
            for (CoordinatorCommand command : machine.on(event)) {
                Behavior<Command> next = carryOut(command);
                if (next != this) {
                    return next; // the run is over
                }
            }
            return this;
        } catch (RuntimeException failure) { // of the listener, a full disk above all
            getContext().getLog().debug("the coordinator cannot go on", failure);
            return end(Optional.of(Reason.of(failure)));
        }
    }

    private Behavior<Command> carryOut(CoordinatorCommand command) {
        switch (command) {
            case CoordinatorCommand.StartPass(Pass pass, var told) -> startPass(pass, told);
            case CoordinatorCommand.Update(var update, var told) ->
                tellRanks(told, new ScheduleActor.ApplyUpdate(update));
            case CoordinatorCommand.CommitStep(StepResult result) -> commit(result);
            case CoordinatorCommand.ReportHeldOut(long stepsDone, double loss) -> {
                if (stepsDone > heldOutReported) {
                    heldOutReported = stepsDone;
                    setup.listener().onHeldOut(stepsDone, loss);
                }
            }
            case CoordinatorCommand.EnterEpoch enter -> enterEpoch(enter);
            case CoordinatorCommand.KeepCopies(long stepsDone, var keepers) ->
                nodes.values().forEach(node -> node.tell(new NodeActor.KeepCopies(stepsDone, keepers)));
            case CoordinatorCommand.Resume resume -> resume(resume);
            case CoordinatorCommand.ReportCaughtUp _ -> reportCaughtUp();
            case CoordinatorCommand.WriteCheckpoint write -> {
                return writeCheckpoint(write);
            }
            case CoordinatorCommand.CommitCheckpoint commit -> {
                return commitCheckpoint(commit);
            }
            case CoordinatorCommand.AbandonCheckpoint(long stepsDone) -> setup.checkpoints().abandon(stepsDone);
            case CoordinatorCommand.ReportCheckpointFailed(long stepsDone, String why) -> {
                setup.listener().onCheckpointFailed(stepsDone, why);
                EventLog.ofRun(machine.epoch(), stepsDone, "a checkpoint could not be written: " + why);
            }
            case CoordinatorCommand.Finish _ -> {
                return end(Optional.empty());
            }
            case CoordinatorCommand.Fail(String reason) -> {
                return end(Optional.of(reason));
            }
        }
        return this;
    }

    private Behavior<Command> writeCheckpoint(CoordinatorCommand.WriteCheckpoint write) {
        if (write.ranks().size() == setup.order().rankCount()) { // else it is begun, and has its room
            try {
                setup.checkpoints().requireRoom();
            } catch (CheckpointException full) {
                return take(new CoordinatorEvent.CheckpointFailed(full.getMessage()));
            }
        }
        tellRanks(write.ranks(), new ScheduleActor.WriteCheckpoint(write.stepsDone()));
        return this;
    }

    private Behavior<Command> commitCheckpoint(CoordinatorCommand.CommitCheckpoint commit) {
        Path directory;
        try {
            directory = setup.checkpoints().commit(commit.stepsDone(), commit.lossScale(), commit.parts());
        } catch (CheckpointException unwritten) {
            return take(new CoordinatorEvent.CheckpointFailed(unwritten.getMessage()));
        }
        setup.listener().onCheckpoint(commit.stepsDone(), directory);
        EventLog.ofRun(machine.epoch(), commit.stepsDone(), "a checkpoint stands");
        return take(new CoordinatorEvent.CheckpointCommitted());
    }

    /** A step that the run went back to is committed again, with the same result. */
    private void commit(StepResult result) {
        if (result.step() > reported) {
            reported = result.step();
            setup.listener().onStep(result, (setup.clock().getAsLong() - stepStartNanos) / 1e9);
        }
    }

    private void startPass(Pass pass, List<Integer> told) {
        if (!started) {
            started = true;
            EventLog.ofRun(machine.epoch(), machine.stepsDone(), "all ranks are ready, the first step begins");
            setup.listener().onStarted();
        }
        if (pass.kind() == Pass.Kind.TRAINING && told.size() == setup.order().rankCount()) {
            stepStartNanos = setup.clock().getAsLong();
        }
        tellRanks(told, new ScheduleActor.StartPass(pass));
    }

    private void enterEpoch(CoordinatorCommand.EnterEpoch enter) {
        EventLog.ofRun(enter.epoch(), enter.stepsDone(),
                "begins an epoch, in which " + (enter.restarted().isEmpty()
                        ? "messages are sent again"
                        : "ranks "
                                + enter.restarted() + " start again")
                        + ": " + enter.reason());
        recoveries.begin(enter);
        stallWatch = Optional.of(newStallWatch());
        nodes.values().forEach(node -> node
                .tell(new NodeActor.EnterEpoch(enter.epoch(), enter.restarted(), enter.stepsDone(),
                        enter.hosts(), enter.since())));
    }

    private void resume(CoordinatorCommand.Resume resume) {
        EventLog.ofRun(resume.epoch(), machine.stepsDone(), "all ranks stand and go on");
        recoveries.resume();
        ranks.forEach((rank, schedule) -> schedule
                .tell(new ScheduleActor.Resume(resume.epoch(), resume.pass(), resume.from(rank))));
    }

    private void reportCaughtUp() {
        for (Recovery recovery : recoveries.end()) {
            EventLog.ofRun(recovery.epoch(), machine.stepsDone(), "ranks " + recovery.ranks() + " have caught up");
            setup.listener().onRecovery(recovery);
        }
    }

    private void tellRanks(List<Integer> told, ScheduleActor.Command command) {
        told.forEach(rank -> ranks.get(rank).tell(command));
    }

    private StallWatch newStallWatch() {
        return new StallWatch(setup.order().rankCount(), setup.timeout().toNanos(), setup.hangTimeout().toNanos(),
                setup.clock().getAsLong());
    }

    private Behavior<Command> onNodeFailed(NodeFailed failed) {
        return end(Optional.of("node " + failed.name() + ": " + failed.reason()));
    }

    private Behavior<Command> onStatusTold(StatusTold told) {
        stallWatch.ifPresent(watch -> watch.onStatus(told.status(), setup.clock().getAsLong()));
        return this;
    }

    private Behavior<Command> onTick() {
        long now = setup.clock().getAsLong();
        if (stallWatch.isEmpty()) {
            Optional<String> overdue = muster.overdue(now);
            if (overdue.isPresent()) {
                return end(overdue);
            }
        } else {
            Optional<StallWatch.Stall> stall = stallWatch.get().stall(now);
            if (stall.isPresent()) {
                Behavior<Command> next = take(eventOf(stall.get()));
                if (next != this) {
                    return next;
                }
            }
        }
        Behavior<Command> next = watchCopies(now);
        if (next != this) {
            return next;
        }
        startNextTick();
        ranks.values().forEach(rank -> rank.tell(new ScheduleActor.TellStatus(getContext().getSelf())));
        return this;
    }

    /** A node that is too slow with its copies holds the run up no longer than this. */
    private Behavior<Command> watchCopies(long now) {
        List<Integer> awaited = machine.awaitsCopiesOf();
        if (awaited.isEmpty()) {
            copiesAwaitedNanos = 0;
        } else if (copiesAwaitedNanos == 0) {
            copiesAwaitedNanos = now;
        } else if (now - copiesAwaitedNanos > COPY_PATIENCE.toNanos()) {
            copiesAwaitedNanos = 0;
            EventLog.ofRun(machine.epoch(), machine.stepsDone(), "copies of what ranks " + awaited
                    + " kept do not come to other nodes within " + COPY_PATIENCE.toSeconds()
                    + " seconds; the run goes on without them, and would not outlive the loss of these ranks' nodes");
            return take(new CoordinatorEvent.CopiesLate());
        }
        return this;
    }

    private CoordinatorEvent eventOf(StallWatch.Stall stall) {
        return stall.rank().isPresent()
                ? new CoordinatorEvent.RankFailed(machine.incarnation(stall.rank().getAsInt()), stall.sentence())
                : new CoordinatorEvent.MessageLost(machine.epoch(), stall.sentence());
    }

    private Behavior<Command> end(Optional<String> failure) {
        EventLog.ofRun(machine.epoch(), machine.stepsDone(),
                "the run ends" + failure.map(why -> ": " + why).orElse(""));
        nodes.values().forEach(node -> node.tell(new NodeActor.RunEnded(machine.stepsDone(), failure)));
        setup.outcome().complete(new RunOutcome(machine.stepsDone(), failure));
        return Behaviors.stopped();
    }
}
