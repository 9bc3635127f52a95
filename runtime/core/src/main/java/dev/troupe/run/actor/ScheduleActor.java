package dev.troupe.run.actor;

import dev.troupe.plan.error.Reason;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.Strike;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.protocol.rank.RankCommand;
import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.protocol.rank.RankMachine;
import dev.troupe.protocol.rank.StepsInProgress;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.watch.RankStatus;
import dev.troupe.rank.ActionRequest;
import dev.troupe.rank.RankResources;
import dev.troupe.rank.RankTelemetry;
import dev.troupe.run.news.EventLog;
import dev.troupe.schedule.Action;
import dev.troupe.transport.TransportFault;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * The actor of one rank: the shell around its {@link RankMachine}. Events from stages, transport and coordinator go in, and
 * the machine's commands go out to them.
 */
final class ScheduleActor extends AbstractBehavior<ScheduleActor.Command> {
    sealed interface Command {
    }

    sealed interface Order extends Command {
        int term();
    }

    /**
     * The order to walk the row.
     *
     * @param updates the decisions on the first steps, if they are known
     */
    record StartPass(int term, Pass pass, List<WeightUpdate> updates) implements Order {
        StartPass(int term, Pass pass) {
            this(term, pass, List.of());
        }
    }

    record ApplyUpdate(int term, WeightUpdate update) implements Order {
    }

    record WriteCheckpoint(int term, long stepsDone) implements Order {
    }

    /** A request for the rank's status, with the coordinator's time. */
    record ReportStatus(ActorRef<TrainingCoordinator.Command> replyTo, long askedNanos) implements Command {
    }

    record StageReady(int stage) implements Command {
    }

    /**
     * A stage has done an action.
     *
     * @param nanos its duration on the host's clock
     */
    record ActionEnded(Action action, ActionResult result, long nanos) implements Command {
    }

    /** The rank's part of a checkpoint is written, or cannot be. */
    record CheckpointAnswered(RunEvent answer) implements Command {
    }

    /** A stage could not carry out an order; {@code what} completes the sentence after "failed". */
    record StageFailed(int stage, String what, Throwable cause) implements Command {
    }

    /** A message has landed, or another event of the transport moves the rank. */
    record Moved(RankEvent event) implements Command {
    }

    record EpochBegun(int epoch) implements Command {
    }

    /**
     * The order to resend the messages of this pass that their receivers do not have yet, since all ranks are ready in the
     * epoch.
     *
     * @param received the messages of this rank that they have
     */
    record Resume(int term, int epoch, long pass, MessageKeys received) implements Order {
    }

    /** The transport reports that a message may never come. */
    record TransportFailed(TransportFault fault) implements Command {
    }

    /** The order to fail, as if the actor had thrown this. */
    record BreakDown(RuntimeException failure) implements Command {
    }

    /** The phase of a rank outside its row. */
    private sealed interface Phase {
        /** These stages still load their weights. */
        record Loading(Set<Integer> stages) implements Phase {
        }

        /** The rank walks its row, or waits for a pass. */
        record Walking() implements Phase {
        }

        /** The stages write the rank's part of a checkpoint, between two passes. */
        record WritingCheckpoint() implements Phase {
        }
    }

    private static final int MOST_CALLS = 40;

    private final RankResources rank;
    private final StageThread thread;
    private final RankMachine machine;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final ActorRef<TensorParallelGroup.Command> group;
    private final Map<Integer, ActorRef<StageActor.Command>> stages = new LinkedHashMap<>();
    private final RankTelemetry telemetry;
    private final StepsInProgress steps;

    private Phase phase;
    private Pass pass;
    private long orders;
    private long moves;
    private long reportedMoves = -1;
    private int epoch;

    private ScheduleActor(ActorContext<Command> context, HostedRank hosted,
            ActorRef<TrainingCoordinator.Command> coordinator, ActorRef<TensorParallelGroup.Command> group) {
        super(context);
        this.rank = hosted.resources();
        this.thread = hosted.thread();
        this.machine = rank.machine();
        this.steps = new StepsInProgress(rank.plan());
        RankMessenger messenger = new RankMessenger(rank.incarnation(), context.getSelf(), coordinator);
        this.telemetry = rank.telemetry(messenger);
        this.coordinator = coordinator;
        this.group = group;
        this.epoch = rank.incarnation().epoch();
        // The rank announces itself, so that this is the first message that the coordinator receives from it.
        coordinator.tell(new TrainingCoordinator.RankHosted(rank.incarnation(), context.getSelf()));
        rank.listen(messenger);
        DispatcherSelector stageThread = thread.register(context.getSystem());
        for (int stage : rank.stages()) {
            ActorRef<StageActor.Command> actor = context.spawn(StageActor.create(stage, hosted, context.getSelf()),
                    "stage-" + stage, stageThread);
            stages.put(stage, actor);
            context.watch(actor);
        }
        this.phase = new Phase.Loading(new HashSet<>(rank.stages()));
    }

    /** Spawns the rank's stages, and reports to the coordinator when they have their weights. */
    static Behavior<Command> create(HostedRank rank, ActorRef<TrainingCoordinator.Command> coordinator,
            ActorRef<TensorParallelGroup.Command> group) {
        return Behaviors.setup(context -> new ScheduleActor(context, rank, coordinator, group));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(Order.class, this::onOrder)
                .onMessage(ReportStatus.class, this::onReportStatus).onMessage(StageReady.class, this::onStageReady)
                .onMessage(ActionEnded.class, this::onActionEnded)
                .onMessage(CheckpointAnswered.class, this::onCheckpointAnswered)
                .onMessage(StageFailed.class, this::onStageFailed).onMessage(Moved.class, moved -> take(moved.event()))
                .onMessage(EpochBegun.class, this::onEpochBegun)
                .onMessage(TransportFailed.class, this::onTransportFailed)
                .onMessage(BreakDown.class, ScheduleActor::onBreakDown)
                .onSignal(ChildFailed.class, this::onChildFailed)
                .onSignal(Terminated.class, _ -> this) // a stage that failed has reported why
                .build();
    }

    private Behavior<Command> onOrder(Order order) {
        return !machine.obeys(order.term()) ? this : switch (order) {
            case StartPass start -> startPass(start);
            case ApplyUpdate(int _, var update) -> take(new RankEvent.UpdateRequested(steps.decided(update)));
            case WriteCheckpoint(int _, long stepsDone) -> writeCheckpoint(stepsDone);
            case Resume(int _, int begun, long number, var received) -> {
                rank.outbox().resume(begun, number, received);
                yield this;
            }
        };
    }

    private Behavior<Command> onStageReady(StageReady ready) {
        moves++;
        if (phase instanceof Phase.Loading(Set<Integer> loading) && loading.remove(ready.stage())
                && loading.isEmpty()) {
            phase = new Phase.Walking();
            EventLog.ofRank(rank.incarnation(), step(), "is ready with stages " + rank.stages());
            return take(new RankEvent.EpochEntered(epoch));
        }
        return this;
    }

    /** Enters an epoch; a rank is ready in it only when it also has its weights. */
    private Behavior<Command> onEpochBegun(EpochBegun begun) {
        epoch = begun.epoch();
        return phase instanceof Phase.Loading ? this : take(new RankEvent.EpochEntered(epoch));
    }

    private Behavior<Command> startPass(StartPass start) {
        pass = start.pass();
        steps.begin(pass, start.updates());
        rank.outbox().begin(pass.number());
        telemetry.passStarted(pass);
        return take(new RankEvent.PassStarted(pass, start.updates().size()));
    }

    private Behavior<Command> onActionEnded(ActionEnded ended) {
        steps.measured(ended.action(), ended.result());
        telemetry.actionEnded(pass, ended.action(), ended.nanos());
        return take(new RankEvent.ActionDone(ended.action()));
    }

    private Behavior<Command> take(RankEvent event) {
        moves++;
        try {
            machine.on(event).forEach(this::carryOut);
        } catch (RuntimeException broken) {
            return fail(Reason.of(broken), Reason.strike(machine.situation(), broken), broken);
        }
        return this;
    }

    private void carryOut(RankCommand command) {
        switch (command) {
            case RankCommand.Run(Action action, var sends) -> stages.get(action.stage()).tell(new StageActor.Compute(
                    orders++, new ActionRequest(action, sends, steps.passOf(action), steps.updateOf(action))));
            case RankCommand.Send(var send) -> rank.tensors().send(send, pass);
            case RankCommand.Discard(var receive, long ofPass) -> rank.tensors().discard(receive, ofPass);
            case RankCommand.ReportEpochReady(int inEpoch, long number, var received) -> tellCoordinator(
                    new RunEvent.EpochReady(rank.incarnation(), inEpoch, number, rank.messages().keysOf(received)));
            case RankCommand.ReportPassDone(Pass done, long step) -> {
                telemetry.stepMeasured(done, step);
                ActionResult measured = steps.takeMeasured(step);
                tellCoordinator(new RunEvent.PassDone(rank.incarnation(), done, step, measured.losses(),
                        measured.squaredSums()));
            }
            case RankCommand.ReportUpdated(long step) -> {
                telemetry.updated(step);
                tellCoordinator(new RunEvent.Updated(rank.incarnation(), step, rank.newTraffic()));
            }
        }
    }

    private Behavior<Command> writeCheckpoint(long stepsDone) {
        phase = new Phase.WritingCheckpoint();
        List<ActorRef<StageActor.Command>> inOrder = List.copyOf(stages.values());
        inOrder.getFirst().tell(new StageActor.WriteCheckpoint(stepsDone, List.of(),
                inOrder.subList(1, inOrder.size())));
        return this;
    }

    private Behavior<Command> onCheckpointAnswered(CheckpointAnswered answered) {
        moves++;
        phase = new Phase.Walking();
        tellCoordinator(answered.answer());
        return this;
    }

    private Behavior<Command> onReportStatus(ReportStatus ask) {
        boolean isAtIt = machine.isComputing() || !(phase instanceof Phase.Walking);
        boolean waitsForGroup = rank.pulse().waits();
        long allMoves = moves + rank.pulse().beats();
        List<String> stack = isAtIt && allMoves == reportedMoves
                ? thread.stack().stream().limit(MOST_CALLS).map(Object::toString).toList()
                : List.of();
        reportedMoves = allMoves;
        ask.replyTo().tell(new TrainingCoordinator.StatusReported(new RankStatus(rank.rank(), allMoves,
                isAtIt && !waitsForGroup,
                situation() + (waitsForGroup ? ", waiting for the other ranks of a group" : ""),
                machine.position(), stack), ask.askedNanos(), System.nanoTime()));
        return this;
    }

    private String situation() {
        return switch (phase) {
            case Phase.Loading(Set<Integer> loading) -> "loading the weights of stages " + loading;
            case Phase.Walking() -> machine.situation();
            case Phase.WritingCheckpoint() -> "writing its part of a checkpoint";
        };
    }

    private Behavior<Command> onStageFailed(StageFailed failed) {
        return fail("stage " + failed.stage() + " failed " + failed.what() + ": " + Reason.of(failed.cause()),
                Reason.strike("stage " + failed.stage() + " " + failed.what(), failed.cause()), failed.cause());
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        return fail("the actor of " + failed.getRef().path().name() + " failed: " + Reason.of(failed.getCause()),
                Optional.empty(), failed.getCause());
    }

    private Behavior<Command> onTransportFailed(TransportFailed failed) {
        String sentence = failed.fault().sentence();
        return switch (failed.fault()) {
            case TransportFault.MessageFault _,TransportFault.DamageFault _ -> {
                EventLog.ofRank(rank.incarnation(), step(), "lost a message: " + sentence);
                tellCoordinator(new RunEvent.MessageLost(epoch, sentence));
                yield this;
            }
            case TransportFault.SendFault _,TransportFault.LinkFault _ -> fail(sentence, Optional.empty(), null);
            case TransportFault.TransportEnded _ ->
                fail(sentence, Optional.of(new Strike("by its transport", sentence)), null);
        };
    }

    private static Behavior<Command> onBreakDown(BreakDown order) {
        throw order.failure();
    }

    /** @param cause the exception, only for the log; null if there was none */
    private Behavior<Command> fail(String reason, Optional<Strike> strike, Throwable cause) {
        getContext().getLog().debug("rank {} failed", rank.rank(), cause);
        EventLog.ofRank(rank.incarnation(), step(), "cannot continue: " + reason, strike.isPresent() ? cause : null);
        group.tell(TensorParallelGroup.Command.failure(rank.rank(), reason, strike, cause));
        return this;
    }

    private long step() {
        return pass == null ? rank.stepsDone() : pass.step();
    }

    private void tellCoordinator(RunEvent event) {
        coordinator.tell(new TrainingCoordinator.Happened(event));
    }
}
