package dev.troupe.run.actor;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.membership.MembershipMachine;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.protocol.run.RunCommand;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.run.RunMachine;
import dev.troupe.run.news.CopyPatience;
import dev.troupe.run.news.RunReports;
import dev.troupe.run.news.Standstills;
import dev.troupe.run.setup.CoordinatorSetup;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * A run in progress: the shell around its {@link RunMachine}. The machine's commands go to ranks, nodes, checkpoints and
 * reports; each look reports ranks without progress to the machine. Thread rule: the coordinator's thread.
 */
final class LedRun implements CoordinatedRun {
    private final TrainingCoordinator coordinator;
    private final CoordinatorSetup setup;
    private final ActorRef<TrainingCoordinator.Command> self;
    private final MembershipMachine<ActorRef<NodeActor.Command>> membership;
    private final RunReports reports;
    private final ReplicaTable replicas;
    private final RunMachine machine;
    private final Checkpoints checkpoints;
    private final Standstills standstills;
    private final Map<Integer, ActorRef<ScheduleActor.Command>> ranks = new HashMap<>();
    private final CopyPatience copyPatience = new CopyPatience();

    LedRun(TrainingCoordinator coordinator, CoordinatorSetup setup, ActorRef<TrainingCoordinator.Command> self,
            MembershipMachine<ActorRef<NodeActor.Command>> membership, RunReports reports, ReplicaTable replicas,
            RunMachine machine) {
        this.coordinator = coordinator;
        this.setup = setup;
        this.self = self;
        this.membership = membership;
        this.reports = reports;
        this.replicas = replicas;
        this.machine = machine;
        this.checkpoints = new Checkpoints(setup, reports, membership.nodes(), this::tellRanks, self);
        this.standstills = setup.standstills(membership.longestKernelNanos());
    }

    @Override
    public int epoch() {
        return machine.epoch();
    }

    @Override
    public long stepsDone() {
        return machine.stepsDone();
    }

    @Override
    public ReplicaTable replicas() {
        return replicas;
    }

    @Override
    public void on(TrainingCoordinator.OfRun message) {
        switch (message) {
            case TrainingCoordinator.RankHosted(Incarnation rank, var schedule) -> {
                if (rank.equals(machine.incarnation(rank.rank()))) { // or it was given up since
                    ranks.put(rank.rank(), schedule);
                    schedule.tell(new ScheduleActor.ReportStatus(self, System.nanoTime())); // for its clock
                }
            }
            case TrainingCoordinator.Happened(RunEvent event) -> {
                boolean isUnknown = event instanceof RunEvent.EpochReady ready
                        && !ranks.containsKey(ready.from().rank());
                if (event instanceof RunEvent.PassDone done && done.from().equals(machine.incarnation(
                        done.from().rank()))) {
                    reports.measured(done);
                }
                if (!isUnknown) { // it was meant for a coordinator that is lost; the rank starts again
                    take(event);
                }
            }
            case TrainingCoordinator.CheckpointHappened(CheckpointEvent event) -> {
                if (event instanceof CheckpointEvent.Moving) { // ranks may be waiting for it
                    standstills.onMoved();
                }
                checkpoints.take(event).forEach(this::take);
            }
            case TrainingCoordinator.StatusReported(var status, long asked, long nanos) -> {
                reports.clockRead(status.rank(), asked, nanos);
                standstills.onStatus(status);
            }
            case TrainingCoordinator.StepTraced(Incarnation rank, long step, var times) -> {
                if (rank.equals(machine.incarnation(rank.rank()))) {
                    reports.traced(step, times);
                }
            }
            case TrainingCoordinator.StepDigested(Incarnation rank, long step, var bits) -> {
                if (rank.equals(machine.incarnation(rank.rank()))) {
                    reports.digested(step, bits);
                }
            }
            case TrainingCoordinator.StepTimed(Incarnation rank, long step, var times) ->
                reports.timed(rank.rank(), step, times);
        }
    }

    @Override
    public void take(RunEvent event) {
        carryOut(machine.on(event));
    }

    @Override
    public void succeed(String reason) {
        carryOut(machine.succeed(reason));
    }

    private void takeIf(Supplier<Optional<RunEvent>> happens) {
        if (!coordinator.isOver()) {
            happens.get().ifPresent(this::take);
        }
    }

    private void carryOut(List<RunCommand> commands) {
        for (RunCommand command : commands) {
            if (!coordinator.isOver()) {
                carryOut(command);
            }
        }
    }

    private void carryOut(RunCommand command) {
        switch (command) {
            case RunCommand.StartPass(Pass pass, var updates, var ordered) -> {
                reports.passStarts(pass, ordered.size() == setup.settings().rankCount(), machine.epoch());
                tellRanks(ordered, new ScheduleActor.StartPass(setup.term(), pass, updates));
            }
            case RunCommand.Update(var update, var ordered) -> tellRanks(ordered,
                    new ScheduleActor.ApplyUpdate(setup.term(), update));
            case RunCommand.CommitStep(var results, Commit commit) -> {
                reports.committed(results, replicas.hosts());
                coordinator.tellNodes(new NodeEvent.Committed(commit));
            }
            case RunCommand.NotifyCommit(String node, Commit commit) ->
                coordinator.tellNode(node, new NodeEvent.Committed(commit));
            case RunCommand.ReportValidation(long stepsDone, double loss) -> reports.validation(stepsDone, loss);
            case RunCommand.EnterEpoch enter -> {
                reports.recoveryBegins(enter);
                standstills.begin(membership.longestKernelNanos());
                coordinator.tellNodes(new NodeEvent.EnterEpoch(enter.epoch(), enter.restarted(), enter.stepsDone(),
                        enter.hosts(), enter.since()));
            }
            case RunCommand.KeepCopies(long stepsDone, var buddies) ->
                coordinator.tellNodes(new NodeEvent.KeepCopies(stepsDone, buddies, membership.receiverIds()));
            case RunCommand.Resume resume -> {
                reports.resumed(resume.epoch(), machine.stepsDone());
                ranks.forEach((rank, schedule) -> schedule.tell(new ScheduleActor.Resume(setup.term(), resume.epoch(),
                        resume.pass(), resume.from(rank))));
            }
            case RunCommand.ReportCaughtUp _ -> reports.caughtUp(machine.stepsDone());
            case RunCommand.NotifyCheckpoint(CheckpointEvent event) -> {
                reports.checkpointBegins();
                checkpoints.take(event).forEach(this::take);
            }
            case RunCommand.ReportCheckpointFailed(long stepsDone, String why) ->
                checkpoints.reportFailed(stepsDone, why);
            case RunCommand.Finish _ -> coordinator.end(Optional.empty());
            case RunCommand.Fail(String reason) -> coordinator.end(Optional.of(reports.explained(reason)));
        }
    }

    private void tellRanks(List<Integer> ordered, ScheduleActor.Order order) {
        ordered.forEach(rank -> ranks.get(rank).tell(order));
    }

    @Override
    public void look() {
        takeIf(() -> standstills.look(machine));
        takeIf(() -> copyPatience.look(machine, setup.patience().clock().getAsLong()));
        if (!coordinator.isOver()) {
            checkpoints.look(machine.waitsForCheckpoint()).forEach(this::take);
        }
        takeIf(checkpoints::dueByTime);
        ranks.values().forEach(rank -> rank.tell(new ScheduleActor.ReportStatus(self, System.nanoTime())));
    }
}
