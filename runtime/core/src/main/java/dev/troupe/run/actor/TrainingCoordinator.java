package dev.troupe.run.actor;

import dev.troupe.plan.error.Reason;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.membership.MembershipCommand;
import dev.troupe.protocol.membership.MembershipEvent;
import dev.troupe.protocol.membership.MembershipMachine;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.run.RunMachine;
import dev.troupe.protocol.watch.RankStatus;
import dev.troupe.protocol.watch.StageTime;
import dev.troupe.rank.bits.RankBits;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.run.actor.supervision.FatalErrors;
import dev.troupe.run.news.EventLog;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.news.RunReports;
import dev.troupe.run.setup.CoordinatorSetup;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * The actor that leads a run: the shell around its {@link MembershipMachine}, and, once the run has begun here, around its
 * machines ({@link CoordinatedRun}).
 */
public final class TrainingCoordinator extends AbstractBehavior<TrainingCoordinator.Command> {
    public sealed interface Command {
    }

    /**
     * The request of a node to take part; its keys must equal the keys of the coordinator's node.
     *
     * @param receiverId the number of its process as a receiver of copies; 0 if it receives none
     * @param term the term of the latest coordinator that it knows; 0: none
     * @param report its report on the run if the earlier coordinator was lost, repeated until it is received
     */
    record NodeJoined(ActorRef<NodeActor.Command> node, String name, Map<String, String> keys, int receiverId, int term,
            Optional<NodeReport> report, WarmUpReport warmUp) implements Command {
    }

    /** A message about a run in progress. If the run has not begun here, it was meant for a coordinator that is lost. */
    sealed interface OfRun extends Command {
    }

    record RankHosted(Incarnation rank, ActorRef<ScheduleActor.Command> schedule) implements OfRun {
    }

    record Happened(RunEvent event) implements OfRun {
    }

    record CheckpointHappened(CheckpointEvent event) implements OfRun {
    }

    /** The shortest times of a rank's stages in a step. */
    record StepTimed(Incarnation rank, long step, List<StageTime> times) implements OfRun {
    }

    record StepTraced(Incarnation rank, long step, RankTimes times) implements OfRun {
    }

    /** The digests of a rank's results in a step so far. */
    record StepDigested(Incarnation rank, long step, RankBits bits) implements OfRun {
    }

    /**
     * The status of a rank.
     *
     * @param askedNanos the clock of the coordinator when it asked
     * @param nanos the clock of the rank's process when it answered
     */
    record StatusReported(RankStatus status, long askedNanos, long nanos) implements OfRun {
    }

    /** The order to end, after the current step with a checkpoint, or at once; repeated until the run has ended. */
    public record Stop(boolean atOnce) implements Command {
    }

    /** A launcher reports that a node still starts. */
    public record OthersStart() implements Command {
    }

    /** A node has ended; Pekko may report this for a moment for a new process under the address of an earlier one. */
    record NodeEnded(String name, ActorRef<NodeActor.Command> node, boolean isSure) implements Command {
    }

    private record LookAgain(NodeEnded end) implements Command {
    }

    private record Tick() implements Command {
    }

    private static final Duration LOOK_AGAIN = Duration.ofMillis(500);
    private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(10);

    private final CoordinatorSetup setup;
    private final TimerScheduler<Command> timers;
    private final MembershipMachine<ActorRef<NodeActor.Command>> membership;
    private final RunReports reports;
    private CoordinatedRun run;
    private boolean isOver;

    private TrainingCoordinator(ActorContext<Command> context, TimerScheduler<Command> timers, CoordinatorSetup setup) {
        super(context);
        this.setup = setup;
        this.timers = timers;
        this.reports = setup.reports();
        this.membership = new MembershipMachine<>(setup.roster(), setup.settings(), setup.term(),
                REPORT_TIMEOUT.toNanos(),
                setup.surroundings());
        this.run = new CoordinatedRun.NotBegun(setup.settings().firstStep(), new ReplicaTable(setup.roster().hosts(),
                setup.roster().buddies(), setup.settings().firstStep()));
        startNextTick();
    }

    /** Waits for the nodes, assigns ranks to them, and leads the run to its end. */
    public static Behavior<Command> create(CoordinatorSetup setup) {
        return FatalErrors.contained(Command.class, Behaviors.setup(
                context -> Behaviors.withTimers(timers -> new TrainingCoordinator(context, timers, setup))));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder()
                .onMessage(NodeJoined.class, joined -> after(() -> take(new MembershipEvent.Joined<>(joined.node(),
                        joined.name(), isLocal(joined.node()), joined.receiverId(), joined.keys(), joined.term(),
                        joined.report(), joined.warmUp()))))
                .onMessage(OfRun.class, message -> after(() -> run.on(message)))
                .onMessage(Stop.class, stop -> after(() -> take(new MembershipEvent.StopAsked<>(stop.atOnce()))))
                .onMessage(OthersStart.class, _ -> after(() -> take(new MembershipEvent.OthersStart<>())))
                .onMessage(NodeEnded.class, ended -> after(() -> take(
                        new MembershipEvent.Ended<>(ended.node(), ended.name(), ended.isSure()))))
                .onMessage(LookAgain.class, at -> after(() -> getContext().watchWith(at.end().node(), at.end())))
                .onMessage(Tick.class, _ -> after(this::look)).build();
    }

    /** Starts one tick at a time, so that ticks do not pile up if the coordinator is delayed. */
    private void startNextTick() {
        timers.startSingleTimer(new Tick(), setup.patience().tickEvery());
    }

    private static boolean isLocal(ActorRef<NodeActor.Command> node) {
        return node.path().address().hasLocalScope();
    }

    private Behavior<Command> after(Runnable work) {
        try {
            work.run();
        } catch (Throwable failure) { // of the listener: a full disk, an error or a failed assertion of a program
            getContext().getLog().debug("the coordinator cannot continue", failure);
            String reason = Reason.of(failure);
            end(Optional.of(reason), RunOutcome.failed(run.stepsDone(), reason, failure));
        }
        return isOver ? Behaviors.stopped() : this;
    }

    private void take(MembershipEvent<ActorRef<NodeActor.Command>> event) {
        for (var command : membership.on(event)) {
            if (!isOver) {
                carryOut(command);
            }
        }
    }

    private void carryOut(MembershipCommand<ActorRef<NodeActor.Command>> command) {
        switch (command) {
            case MembershipCommand.Refuse(var node, String why) -> {
                EventLog.ofRun(run.epoch(), run.stepsDone(), why);
                node.tell(new NodeActor.Happened(new NodeEvent.Refused(why)));
            }
            case MembershipCommand.Watch(var node, String name) -> {
                reports.nodeJoined(run.stepsDone(), name);
                getContext().watchWith(node, new NodeEnded(name, node, isLocal(node)));
            }
            case MembershipCommand.WatchAgain(var node, String name) ->
                timers.startSingleTimer(new LookAgain(new NodeEnded(name, node, true)), LOOK_AGAIN);
            case MembershipCommand.ReportMissing(var names) -> reports.waiting(names);
            case MembershipCommand.RunKernels(var node) -> tell(node, new NodeEvent.RunKernels());
            case MembershipCommand.Follow(var node) -> tell(node, new NodeEvent.Follow());
            case MembershipCommand.Begin(double warmUpSeconds) -> reports.begin(warmUpSeconds).ifPresentOrElse(
                    refusal -> take(new MembershipEvent.CannotBegin<>(refusal)),
                    () -> lead(run.replicas(), new RunMachine(setup.settings(), run.replicas(), setup.term())));
            case MembershipCommand.TakeOver(var settings, var failover) -> {
                ReplicaTable replicas = new ReplicaTable(failover.hosts(), failover.since(), setup.roster().buddies(),
                        settings.firstStep());
                lead(replicas, new RunMachine(settings, replicas, setup.term(), failover));
            }
            case MembershipCommand.Host(var node) -> node.tell(new NodeActor.HostRanks(setup.term(),
                    new NodeEvent.HostRanks(run.epoch(), run.replicas().hosts(), run.replicas().since(),
                            setup.files().directory().toString()),
                    getContext().getSelf()));
            case MembershipCommand.Outrun(String name, int epoch) -> run.take(new RunEvent.NodeLate(name, epoch));
            case MembershipCommand.AddNode(String name, var versions) ->
                run.take(new RunEvent.NodeJoined(name, versions));
            case MembershipCommand.Recover(String reason) -> run.succeed(reason);
            case MembershipCommand.ReportGone(String name) -> reports.nodeGone(run.stepsDone(), name,
                    membership.nodes().keySet(), run.replicas().hosts());
            case MembershipCommand.LoseNode(String name, String reason) ->
                run.take(new RunEvent.NodeLost(name, reason));
            case MembershipCommand.StopAfterStep() -> run.take(new RunEvent.StopRequested());
            case MembershipCommand.RefuseRun(String why) -> {
                EventLog.ofRun(run.epoch(), run.stepsDone(), "the run does not begin: " + why);
                end(new NodeEvent.Refused(why), RunOutcome.refused(why));
            }
            case MembershipCommand.End(var failure) -> end(failure);
        }
    }

    private void lead(ReplicaTable replicas, RunMachine machine) {
        run = new LedRun(this, setup, getContext().getSelf(), membership, reports, replicas, machine);
    }

    private void look() {
        take(new MembershipEvent.Tick<>());
        run.look();
        startNextTick();
    }

    void tellNodes(NodeEvent.Order order) {
        membership.nodes().values().forEach(node -> tell(node, order));
    }

    void tellNode(String name, NodeEvent.Order order) {
        tell(membership.nodes().get(name), order);
    }

    private void tell(ActorRef<NodeActor.Command> node, NodeEvent.Order order) {
        node.tell(new NodeActor.Happened(new NodeEvent.Ordered(setup.term(), order)));
    }

    boolean isOver() {
        return isOver;
    }

    void end(Optional<String> failure) {
        end(failure, new RunOutcome(run.stepsDone(), failure));
    }

    private void end(Optional<String> failure, RunOutcome outcome) {
        try {
            reports.ended(run.stepsDone(), "the run ends" + failure.map(why -> ": " + why).orElse(""));
        } catch (Throwable again) { // a listener that has failed may fail once more
            if (failure.isEmpty()) {
                throw again;
            }
        }
        end(new NodeEvent.Ordered(setup.term(), new NodeEvent.RunEnded(run.stepsDone(), failure)), outcome);
    }

    private void end(NodeEvent last, RunOutcome outcome) {
        isOver = true;
        // The outcome ends the actors of this process, so the other processes are notified first; this process's node would
        // end it without the cause.
        List<ActorRef<NodeActor.Command>> nodes = List.copyOf(membership.nodes().values());
        nodes.stream().filter(node -> !isLocal(node)).forEach(node -> node.tell(new NodeActor.Happened(last)));
        setup.outcome().complete(outcome);
        nodes.stream().filter(TrainingCoordinator::isLocal).forEach(node -> node.tell(new NodeActor.Happened(last)));
    }
}
