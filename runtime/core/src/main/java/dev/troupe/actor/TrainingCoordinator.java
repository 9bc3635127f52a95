package dev.troupe.actor;

import dev.troupe.observe.CopyPatience;
import dev.troupe.observe.EventLog;
import dev.troupe.observe.RunOutcome;
import dev.troupe.observe.RunReports;
import dev.troupe.observe.Standstills;
import dev.troupe.prepare.Reason;
import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.membership.MembershipCommand;
import dev.troupe.protocol.membership.MembershipEvent;
import dev.troupe.protocol.membership.MembershipMachine;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.protocol.run.CoordinatorFailover;
import dev.troupe.protocol.run.RunCommand;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.run.RunMachine;
import dev.troupe.protocol.watch.RankStatus;
import dev.troupe.protocol.watch.StageTime;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * Leads a run: the shell around its {@link RunMachine}. It places ranks, starts passes, commits steps and
 * checkpoints, and ends the run when a rank fails or nothing moves any more.
 */
public final class TrainingCoordinator extends AbstractBehavior<TrainingCoordinator.Command> {
    /** What the coordinator is told. */
    public sealed interface Command {
    }

    /**
     * A node wants to take part; its keys must be those of the coordinator's node.
     *
     * @param door
     *            the number of where its process takes copies in; 0 where it takes none
     * @param report
     *            what it knows of the run where the coordinator before was lost; it says so until it is heard
     * @param warmUp
     *            how far it is with running its kernels once
     */
    record NodeJoined(ActorRef<NodeActor.Command> node, String name, Map<String, String> keys, int door,
            Optional<NodeReport> report, WarmUpReport warmUp) implements Command {
    }

    /** A rank lives. */
    record RankHosted(Incarnation rank, ActorRef<ScheduleActor.Command> schedule) implements Command {
    }

    /** A rank has come so far. */
    record Happened(RunEvent event) implements Command {
    }

    /** Something came of a checkpoint that is written beside training. */
    record CheckpointHappened(CheckpointEvent event) implements Command {
    }

    /** A node cannot host what it was told to, for the reason in this sentence. */
    record NodeFailed(String name, String reason) implements Command {
    }

    /** What a rank has computed in a step. */
    record StepTimed(Incarnation rank, long step, List<StageTime> times) implements Command {
    }

    /** What a rank says of itself. */
    record StatusTold(RankStatus status) implements Command {
    }

    /** End after the step that is under way, with a checkpoint, or at once; said again until the run has ended. */
    public record Stop(boolean atOnce) implements Command {
    }

    /** A node has ended; of a process that came under the address of an earlier one Pekko may say so for a moment. */
    record NodeEnded(String name, ActorRef<NodeActor.Command> node, boolean isSure) implements Command {
    }

    private record LookAgain(NodeEnded end) implements Command {
    }

    private record Tick() implements Command {
    }

    private static final int TICKS_PER_TIMEOUT = 20;
    private static final Duration LOOK_AGAIN = Duration.ofMillis(500);
    private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(10);

    private final CoordinatorSetup setup;
    private final TimerScheduler<Command> timers;
    private final MembershipMachine<ActorRef<NodeActor.Command>> membership;
    private final RunReports reports;
    // Of the run from its beginning, until it shows that it is under way.
    private ReplicaTable replicas;
    private RunMachine machine;
    private Checkpoints checkpoints;
    private final Standstills standstills;
    private final Map<Integer, ActorRef<ScheduleActor.Command>> ranks = new HashMap<>();
    private final CopyPatience copyPatience = new CopyPatience();

    private TrainingCoordinator(ActorContext<Command> context, TimerScheduler<Command> timers, CoordinatorSetup setup) {
        super(context);
        this.setup = setup;
        this.timers = timers;
        this.replicas = new ReplicaTable(setup.roster().hosts(), setup.roster().buddies(),
                setup.settings().firstStep());
        this.machine = new RunMachine(setup.settings(), replicas);
        this.reports = setup.reports();
        this.standstills = setup.standstills();
        this.membership = new MembershipMachine<>(setup.roster(), setup.settings(), REPORT_TIMEOUT.toNanos(),
                setup.surroundings());
        this.checkpoints = newCheckpoints();
        startNextTick();
    }

    private Checkpoints newCheckpoints() {
        return new Checkpoints(setup, tickEvery(), membership.nodes(), this::tellRanks, () -> machine.epoch(),
                getContext().getSelf());
    }

    private Duration tickEvery() {
        return setup.timeout().dividedBy(TICKS_PER_TIMEOUT);
    }

    /** Waits for the nodes, has each host its ranks, and leads them to the end of the run. */
    public static Behavior<Command> create(CoordinatorSetup setup) {
        return Behaviors.setup(
                context -> Behaviors.withTimers(timers -> new TrainingCoordinator(context, timers, setup)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(NodeJoined.class, this::onNodeJoined)
                .onMessage(RankHosted.class, this::onRankHosted).onMessage(Happened.class, this::onHappened)
                .onMessage(CheckpointHappened.class, this::onCheckpointHappened)
                .onMessage(NodeFailed.class, this::onNodeFailed)
                .onMessage(StatusTold.class, told -> note(() -> standstills.onStatus(told.status())))
                .onMessage(StepTimed.class,
                        told -> note(() -> reports.timed(told.rank().rank(), told.step(), told.times())))
                .onMessage(Stop.class, this::onStop)
                .onMessage(NodeEnded.class, this::onNodeEnded)
                .onMessage(LookAgain.class, at -> note(() -> getContext().watchWith(at.end().node(), at.end())))
                .onMessage(Tick.class, _ -> onTick()).build();
    }

    /** One at a time, so that ticks do not pile up where the coordinator is held up. */
    private void startNextTick() {
        timers.startSingleTimer(new Tick(), tickEvery());
    }

    private Behavior<Command> onNodeJoined(NodeJoined joined) {
        return take(new MembershipEvent.Joined<>(joined.node(), joined.name(), isLocal(joined.node()), joined.door(),
                joined.keys(), joined.report(), joined.warmUp()));
    }

    private static boolean isLocal(ActorRef<NodeActor.Command> node) {
        return node.path().address().hasLocalScope();
    }

    private Behavior<Command> onStop(Stop stop) {
        return take(new MembershipEvent.StopAsked<>(stop.atOnce()));
    }

    private Behavior<Command> onNodeEnded(NodeEnded ended) {
        return take(new MembershipEvent.Ended<>(ended.node(), ended.name(), ended.isSure()));
    }

    private Behavior<Command> take(MembershipEvent<ActorRef<NodeActor.Command>> event) {
        for (MembershipCommand<ActorRef<NodeActor.Command>> command : membership.on(event)) {
            Behavior<Command> next = carryOut(command);
            if (next != this) {
                return next; // the run is over
            }
        }
        return this;
    }

    private Behavior<Command> carryOut(MembershipCommand<ActorRef<NodeActor.Command>> command) {
        return switch (command) {
            case MembershipCommand.Refuse<ActorRef<NodeActor.Command>>(var node, String why) -> note(() -> {
                EventLog.ofRun(machine.epoch(), machine.stepsDone(), why);
                node.tell(new NodeActor.Told(new NodeEvent.Refused(why)));
            });
            case MembershipCommand.Watch<ActorRef<NodeActor.Command>>(var node, String name) -> note(() -> {
                reports.nodeJoined(machine.stepsDone(), name);
                getContext().watchWith(node, new NodeEnded(name, node, isLocal(node)));
            });
            case MembershipCommand.WatchAgain<ActorRef<NodeActor.Command>>(var node, String name) ->
                note(() -> timers.startSingleTimer(new LookAgain(new NodeEnded(name, node, true)), LOOK_AGAIN));
            case MembershipCommand.ReportMissing<ActorRef<NodeActor.Command>>(var names) ->
                note(() -> setup.listener().onWaiting(names));
            case MembershipCommand.RunKernels<ActorRef<NodeActor.Command>>(var node) ->
                note(() -> node.tell(new NodeActor.Told(new NodeEvent.RunKernels())));
            case MembershipCommand.Begin<ActorRef<NodeActor.Command>>(double warmUpSeconds) -> begin(warmUpSeconds);
            case MembershipCommand.TakeOver<ActorRef<NodeActor.Command>>(var settings, var failover) ->
                note(() -> takeOver(settings, failover));
            case MembershipCommand.Host<ActorRef<NodeActor.Command>>(var node) ->
                note(() -> node.tell(new NodeActor.HostRanks(new NodeEvent.HostRanks(machine.epoch(), replicas.hosts(),
                        replicas.since(), setup.directory().toString()), getContext().getSelf())));
            case MembershipCommand.AddNode<ActorRef<NodeActor.Command>>(String name) ->
                take(new RunEvent.NodeJoined(name));
            case MembershipCommand.Recover<ActorRef<NodeActor.Command>>(String reason, var told) ->
                carryOut(() -> machine.succeed(reason, told));
            case MembershipCommand.ReportGone<ActorRef<NodeActor.Command>>(String name) ->
                note(() -> reports.nodeGone(machine.stepsDone(), name, membership.nodes().keySet(), replicas.hosts()));
            case MembershipCommand.LoseNode<ActorRef<NodeActor.Command>>(String name, String reason) ->
                take(new RunEvent.NodeLost(name, reason));
            case MembershipCommand.StopAfterStep<ActorRef<NodeActor.Command>> _ -> take(new RunEvent.StopRequested());
            case MembershipCommand.RefuseRun<ActorRef<NodeActor.Command>>(String why) -> refuseRun(why);
            case MembershipCommand.End<ActorRef<NodeActor.Command>>(var failure) -> end(failure);
        };
    }

    private Behavior<Command> begin(double warmUpSeconds) {
        Optional<String> refusal = reports.begin(warmUpSeconds);
        if (refusal.isPresent()) {
            return take(new MembershipEvent.CannotBegin<>(refusal.get()));
        }
        standstills.begin(membership.longestKernelNanos());
        return this;
    }

    private Behavior<Command> refuseRun(String why) {
        EventLog.ofRun(machine.epoch(), machine.stepsDone(), "the run does not begin: " + why);
        tellNodes(new NodeEvent.Refused(why));
        setup.outcome().complete(RunOutcome.refused(why));
        return Behaviors.stopped();
    }

    private void takeOver(RunSettings settings, CoordinatorFailover failover) {
        replicas = new ReplicaTable(failover.hosts(), failover.since(), setup.roster().buddies(),
                settings.firstStep());
        machine = new RunMachine(settings, replicas, failover);
        checkpoints = newCheckpoints();
        standstills.begin(membership.longestKernelNanos());
    }

    private Behavior<Command> onRankHosted(RankHosted hosted) {
        int rank = hosted.rank().rank();
        if (hosted.rank().equals(machine.incarnation(rank))) { // or it was given up since
            ranks.put(rank, hosted.schedule());
        }
        return this;
    }

    /**
     * What is said before the run is under way here was meant for a coordinator that is lost; who stands is known, or
     * starts again.
     */
    private Behavior<Command> onHappened(Happened happened) {
        boolean isUnknown = happened.event() instanceof RunEvent.EpochReady ready
                && !ranks.containsKey(ready.from().rank());
        return !membership.isRunning() || isUnknown ? this : take(happened.event());
    }

    private Behavior<Command> onCheckpointHappened(CheckpointHappened happened) {
        if (happened.event() instanceof CheckpointEvent.Moving) { // ranks may be waiting for it
            standstills.onMoved();
        }
        return attempt(() -> takeIf(checkpoints.take(happened.event())));
    }

    private Behavior<Command> take(RunEvent event) {
        return carryOut(() -> machine.on(event));
    }

    private Behavior<Command> carryOut(Supplier<List<RunCommand>> commands) {
        return attempt(() -> {
            for (RunCommand command : commands.get()) {
                Behavior<Command> next = carryOut(command);
                if (next != this) {
                    return next; // the run is over
                }
            }
            return this;
        });
    }

    private Behavior<Command> attempt(Supplier<Behavior<Command>> work) {
        try {
            return work.get();
        } catch (RuntimeException failure) { // of the listener, a full disk above all
            getContext().getLog().debug("the coordinator cannot go on", failure);
            return end(Optional.of(Reason.of(failure)));
        }
    }

    private Behavior<Command> takeIf(Optional<RunEvent> event) {
        return event.isPresent() ? take(event.get()) : this;
    }

    private Behavior<Command> carryOut(RunCommand command) {
        switch (command) {
            case RunCommand.StartPass(Pass pass, var told) -> {
                reports.passStarts(pass, told.size() == setup.settings().rankCount(), machine.epoch());
                tellRanks(told, new ScheduleActor.StartPass(pass));
            }
            case RunCommand.Update(var update, var told) -> tellRanks(told, new ScheduleActor.ApplyUpdate(update));
            case RunCommand.CommitStep(StepResult result, Commit commit) -> {
                reports.committed(result, replicas.hosts());
                tellNodes(new NodeEvent.Committed(commit));
            }
            case RunCommand.ReportValidation(long stepsDone, double loss) -> reports.validation(stepsDone, loss);
            case RunCommand.EnterEpoch enter -> enterEpoch(enter);
            case RunCommand.KeepCopies(long stepsDone, var buddies) ->
                tellNodes(new NodeEvent.KeepCopies(stepsDone, buddies, membership.doors()));
            case RunCommand.Resume resume -> {
                reports.resumed(resume.epoch(), machine.stepsDone());
                ranks.forEach((rank, schedule) -> schedule
                        .tell(new ScheduleActor.Resume(resume.epoch(), resume.pass(), resume.from(rank))));
            }
            case RunCommand.ReportCaughtUp _ -> reports.caughtUp(machine.stepsDone());
            case RunCommand.TellCheckpoint(CheckpointEvent event) -> {
                return takeIf(checkpoints.take(event));
            }
            case RunCommand.ReportCheckpointFailed(long stepsDone, String why) ->
                checkpoints.reportFailed(stepsDone, why);
            case RunCommand.Finish _ -> {
                return end(Optional.empty());
            }
            case RunCommand.Fail(String reason) -> {
                return end(Optional.of(reason));
            }
        }
        return this;
    }

    private void enterEpoch(RunCommand.EnterEpoch enter) {
        reports.recoveryBegins(enter);
        standstills.begin(membership.longestKernelNanos());
        tellNodes(new NodeEvent.EnterEpoch(enter.epoch(), enter.restarted(), enter.stepsDone(), enter.hosts(),
                enter.since()));
    }

    private void tellNodes(NodeEvent.Order order) {
        membership.nodes().values().forEach(node -> node.tell(new NodeActor.Told(order)));
    }

    private void tellRanks(List<Integer> told, ScheduleActor.Command command) {
        told.forEach(rank -> ranks.get(rank).tell(command));
    }

    /** It hosts nothing: a standby that is no use is done without, and ranks that were to live there may live elsewhere. */
    private Behavior<Command> onNodeFailed(NodeFailed failed) {
        return take(new RunEvent.NodeLost(failed.name(), "node " + failed.name() + ": " + failed.reason()));
    }

    private Behavior<Command> note(Runnable note) {
        note.run();
        return this;
    }

    private Behavior<Command> onTick() {
        long now = setup.clock().getAsLong();
        Behavior<Command> next = take(new MembershipEvent.Tick<>());
        if (next == this) {
            next = takeIf(standstills.look(machine));
        }
        if (next == this) {
            next = takeIf(copyPatience.look(machine, now));
        }
        if (next == this) {
            next = attempt(() -> takeIf(checkpoints.look(machine.waitsForCheckpoint())));
        }
        if (next == this) {
            next = takeIf(checkpoints.dueByTime());
        }
        if (next != this) {
            return next;
        }
        startNextTick();
        ranks.values().forEach(rank -> rank.tell(new ScheduleActor.TellStatus(getContext().getSelf())));
        return this;
    }

    private Behavior<Command> end(Optional<String> failure) {
        reports.ended(machine.stepsDone(), "the run ends" + failure.map(why -> ": " + why).orElse(""));
        tellNodes(new NodeEvent.RunEnded(machine.stepsDone(), failure));
        setup.outcome().complete(new RunOutcome(machine.stepsDone(), failure));
        return Behaviors.stopped();
    }
}
