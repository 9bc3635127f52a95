package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The coordinator around its {@link RunMachine} and the machine of its checkpoints, one after the other where it is lost;
 * and what a run has come to, which is {@link Truth}.
 */
final class SimulatedCoordinator {
    private final Simulation run;
    private final RunSettings settings;
    private final World world;
    private final SimulatedNodes nodes;
    private final SimulatedCheckpoints checkpoints;
    // Null while it is lost, and no other has taken over.
    private RunMachine machine;
    private ReplicaTable replicas;
    // By rank: whom it tells.
    private final SimulatedRank[] known;
    private final List<Long> validation = new ArrayList<>();
    private long committed;
    private boolean isUpdating; // and so a step may be committed before a death is heard of
    private boolean isCaughtUp = true;
    private boolean hasBegun;
    private boolean wasStopped;
    private boolean isOver;

    SimulatedCoordinator(Simulation run, RunSettings settings, World world, SimulatedNodes nodes) {
        this.run = run;
        this.settings = settings;
        this.world = world;
        this.nodes = nodes;
        this.replicas = new ReplicaTable(run.firstHosts(), world.buddies(), settings.firstStep());
        this.machine = new RunMachine(settings, replicas);
        this.checkpoints = new SimulatedCheckpoints(run, this, settings);
        this.committed = settings.firstStep();
        this.known = new SimulatedRank[settings.rankCount()];
    }

    boolean isLost() {
        return machine == null;
    }

    /** Whether something may go wrong: the run has begun and is not over. */
    boolean mayFail() {
        return hasBegun && !isOver;
    }

    boolean isOver() {
        return isOver;
    }

    boolean isCaughtUp() {
        return isCaughtUp;
    }

    SimulatedCheckpoints checkpoints() {
        return checkpoints;
    }

    long committed() {
        return committed;
    }

    List<Long> validation() {
        return validation;
    }

    String hostOf(int rank) {
        return replicas.hosts().get(rank);
    }

    /** Whether the run can continue without these ranks' node, also where a step is committed before that is heard. */
    boolean canLose(List<Integer> ranks) {
        return replicas.recoverable(ranks, committed).isPresent()
                && (!isUpdating || replicas.recoverable(ranks, committed + 1).isPresent());
    }

    /** What a node that comes late is told. */
    RunCommand.EnterEpoch present() {
        return new RunCommand.EnterEpoch(machine.epoch(), List.of(), committed, "it comes late", replicas.hosts(),
                replicas.since());
    }

    void stop() {
        wasStopped = true;
        ask(new RunEvent.StopRequested());
    }

    /** Nothing moves, and it sees so in time. */
    void standStill() {
        ask(new RunEvent.MessageLost(machine.epoch(), "nothing moves"));
    }

    /** The checkpoint for which the run waits does not move; false where it waits for none. */
    boolean giveUpCheckpoint() {
        if (isLost() || !machine.waitsForCheckpoint()) {
            return false;
        }
        checkpoints.take(new CheckpointEvent.Overdue());
        return true;
    }

    void lose() {
        machine = null;
        checkpoints.lose();
    }

    /** Another hears every node that is there. */
    void takeOver(Map<String, NodeReport> told) {
        CoordinatorFailover failover = CoordinatorFailover
                .of(told, new Commit(settings.firstStep(), settings.lossScale())).orElseThrow();
        replicas = new ReplicaTable(failover.hosts(), failover.since(), world.buddies(), settings.firstStep());
        machine = new RunMachine(settings.savedAt(checkpoints.newest()), replicas, failover);
        told.keySet().forEach(node -> ask(new RunEvent.NodeJoined(node)));
        carryOut(machine.succeed("the coordinator is lost", told));
    }

    void hosted(SimulatedRank rank) {
        if (machine != null && rank.incarnation().equals(machine.incarnation(rank.rank()))) {
            known[rank.rank()] = rank;
        }
    }

    void ask(RunEvent event) {
        if (machine != null) {
            carryOut(machine.on(event));
        }
    }

    void take(CheckpointEvent event) {
        if (machine != null) {
            checkpoints.take(event);
        }
    }

    private void carryOut(List<RunCommand> commands) {
        for (RunCommand command : commands) {
            switch (command) {
                case RunCommand.StartPass(Pass pass, var told) -> {
                    hasBegun = true;
                    told.forEach(rank -> tell(rank, to -> to.startPass(pass)));
                }
                case RunCommand.Update(var update, var told) -> {
                    isUpdating = true;
                    told.forEach(rank -> tell(rank, to -> to.applyUpdate(update)));
                }
                case RunCommand.CommitStep commit -> {
                    isUpdating = false;
                    commit(commit.result());
                    nodes.tellAll(commit);
                }
                case RunCommand.ReportValidation(long stepsDone, double loss) -> {
                    run.truth().validates(stepsDone, loss);
                    validation.add(stepsDone);
                }
                case RunCommand.TellCheckpoint(CheckpointEvent event) -> checkpoints.take(event);
                case RunCommand.KeepCopies keep -> nodes.tellAll(keep);
                case RunCommand.ReportCheckpointFailed _ -> fail(command + ", but every part was written");
                case RunCommand.Finish(long stepsDone) -> {
                    assertEquals(committed, stepsDone, "steps at the end");
                    checkpoints.checkEnd(committed, wasStopped);
                    isOver = true;
                }
                case RunCommand.EnterEpoch enter -> {
                    isCaughtUp = false;
                    isUpdating &= enter.stepsDone() == committed && enter.restarted().size() < known.length;
                    committed = enter.stepsDone();
                    nodes.tellAll(enter);
                }
                case RunCommand.Resume resume -> {
                    for (int rank = 0; rank < known.length; rank++) {
                        tell(rank, to -> to.resume(resume));
                    }
                }
                case RunCommand.ReportCaughtUp _ -> {
                    assertTrue(!isCaughtUp, "a recovery that is over is over again");
                    isCaughtUp = true;
                }
                case RunCommand.Fail(String reason) -> fail("the run failed: " + reason);
            }
        }
    }

    void tell(int rank, Consumer<SimulatedRank> news) {
        SimulatedRank to = known[rank];
        to.tell(() -> news.accept(to));
    }

    private void commit(StepResult result) {
        assertEquals(committed++, result.step(), "the step that is committed");
        run.truth().commits(result);
        for (int rank = 0; rank < known.length; rank++) {
            SimulatedNode host = run.node(hostOf(rank));
            int of = rank;
            run.stagesOf(rank).forEach(stage -> assertTrue(host.isDead() || host.snapshots().find(of, stage, committed)
                    .equals(OptionalLong.of(run.truth().weights(of, stage, committed))),
                    "what stage " + stage + " has kept"));
        }
    }

    @Override
    public String toString() {
        return committed + " steps committed, " + (machine == null
                ? "no coordinator"
                : "epoch " + machine.epoch() + ", the coordinator misses " + machine.missing() + " and copies of "
                        + machine.awaitsCopiesOf())
                + checkpoints;
    }
}
