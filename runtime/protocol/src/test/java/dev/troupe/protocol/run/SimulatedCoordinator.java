package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.membership.MembershipCommand;
import dev.troupe.protocol.membership.MembershipEvent;
import dev.troupe.protocol.membership.MembershipMachine;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * One coordinator of a run around its machines (membership, run, checkpoints), as {@code TrainingCoordinator} is. The
 * results of a run are in {@link Truth}, whoever leads it.
 */
final class SimulatedCoordinator {
    private static final Duration JOIN_TIMEOUT = Duration.ofDays(1);
    private static final long REPORT_NANOS = 10_000_000_000L;
    private static final int DOOR = 1;

    private final Simulation run;
    private final RunSettings settings;
    private final World world;
    private final RunRecords records;
    private final SimulatedNode host;
    private final int term;
    private final SimulatedCluster cluster;
    private final MembershipMachine<SimulatedNode> membership;
    private final SimulatedCheckpoints checkpoints;
    private final SimulatedReports reports;
    private final SimulatedWatch watch;
    private boolean isLost;
    private RunMachine machine;
    private ReplicaTable replicas;
    // By rank, the receivers of its orders.
    private final SimulatedRank[] known;
    private long committed;
    private boolean isUpdating; // and so a step may be committed before a death is heard of
    private boolean isCaughtUp = true;

    /**
     * @param host its process
     */
    SimulatedCoordinator(Simulation run, RunSettings settings, World world, RunRecords records, SimulatedNode host,
            int term, SimulatedCluster cluster) {
        this.run = run;
        this.settings = settings;
        this.world = world;
        this.records = records;
        this.host = host;
        this.term = term;
        this.cluster = cluster;
        this.membership = new MembershipMachine<>(
                new Roster(world.ranksByNode(settings.rankCount()), Map.of(), JOIN_TIMEOUT, world.buddies()), settings,
                term, REPORT_NANOS, cluster);
        this.replicas = new ReplicaTable(run.firstHosts(), world.buddies(), settings.firstStep());
        this.machine = new RunMachine(settings, replicas, run.protocol().startTerm(term));
        this.reports = new SimulatedReports(settings);
        this.checkpoints = new SimulatedCheckpoints(run, this, settings, records);
        this.watch = new SimulatedWatch(host.name(), cluster, this::take);
        this.committed = settings.firstStep();
        this.known = new SimulatedRank[settings.rankCount()];
    }

    SimulatedNode host() {
        return host;
    }

    int term() {
        return term;
    }

    boolean isLost() {
        return isLost;
    }

    boolean isRunning() {
        return !isLost && membership.isRunning();
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

    String hostOf(int rank) {
        return replicas.hosts().get(rank);
    }

    /** Returns the last living incarnation of a rank. */
    SimulatedRank known(int rank) {
        return known[rank];
    }

    /** Returns whether the run can continue without these ranks' node, also if a step is committed before that is known. */
    boolean canLose(List<Integer> ranks) {
        return replicas.recoverable(ranks, committed, settings.stepsPerPass()).isPresent() && (!isUpdating || replicas
                .recoverable(ranks, committed + settings.stepsPerPass(), settings.stepsPerPass()).isPresent());
    }

    /** Returns whether a process that takes part has ended without its knowledge. */
    boolean hasUnheardEnd() {
        return membership.nodes().values().stream().anyMatch(cluster::isGone);
    }

    /**
     * Returns whether at least a number of other processes know enough to continue if the coordinator is lost with this one.
     */
    boolean canLoseItself(SimulatedNode victim, int atLeast) {
        List<SimulatedNode> others = membership.nodes().values().stream()
                .filter(node -> node != victim && node.report().isPresent()).toList();
        return others.size() >= atLeast && (victim != host || reports.wouldBeEnough(others, records.committed));
    }

    /** Returns whether the processes that take part have reported enough to lead the run without the others. */
    boolean hasHeardEnough() {
        return reports.areEnough(membership.nodes().values(), records.committed);
    }

    /** Returns a living process that asked and is taken for dead; empty if there is none. */
    Optional<SimulatedNode> givenUp() {
        return reports.askers().stream().filter(node -> !node.isDead() && membership.nodes().get(node.name()) != node)
                .findFirst();
    }

    void stop() {
        records.wasStopped = true;
        take(new MembershipEvent.StopAsked<>(false));
    }

    /** Notices in time that nothing moves. */
    void standStill() {
        ask(new RunEvent.MessageLost(machine.epoch(), "nothing moves"));
    }

    /** Gives up the checkpoint for which the run waits; false if it waits for none. */
    boolean giveUpCheckpoint() {
        if (!isRunning() || !machine.waitsForCheckpoint()) {
            return false;
        }
        checkpoints.take(new CheckpointEvent.Overdue());
        return true;
    }

    /** Is lost with all its knowledge. */
    void lose() {
        isLost = true;
        checkpoints.lose();
    }

    /** Returns the same, lost, for those that it does not reach any more. */
    SimulatedCoordinator lostElsewhere() {
        SimulatedCoordinator lost = new SimulatedCoordinator(run, settings, world, records, host, term, cluster);
        lost.replicas = replicas;
        lost.committed = committed;
        lost.isLost = true;
        return lost;
    }

    // The membership of the run.

    void addMoves(List<Move> moves) {
        if (!isLost) {
            checkpoints.addMoves(moves);
            watch.addMoves(moves);
        }
    }

    /** A process asks to take part. */
    void asked(SimulatedNode node, int heard, Optional<NodeReport> report) {
        if (heard == term) {
            reports.hear(node, report);
        }
        take(new MembershipEvent.Joined<>(node, node.name(), node == host, DOOR, Map.of(), heard, report,
                WarmUpReport.NOTHING_TO_RUN));
    }

    void take(MembershipEvent<SimulatedNode> event) {
        for (MembershipCommand<SimulatedNode> command : membership.on(event)) {
            switch (command) {
                case MembershipCommand.Refuse<SimulatedNode>(var node, String _) -> cluster.end(node);
                case MembershipCommand.Watch<SimulatedNode>(var node, String _) -> watch.on(node);
                case MembershipCommand.WatchAgain<SimulatedNode>(var node, String _) -> watch.again(node);
                case MembershipCommand.TakeOver<SimulatedNode>(var resumed, var failover) -> {
                    cluster.takeDirectory();
                    replicas = new ReplicaTable(failover.hosts(), failover.since(), world.buddies(),
                            settings.firstStep());
                    machine = new RunMachine(resumed, replicas, run.protocol().startTerm(term), failover);
                }
                case MembershipCommand.Host<SimulatedNode>(var node) -> tell(node,
                        new NodeEvent.HostRanks(machine.epoch(), replicas.hosts(), replicas.since(), ""));
                case MembershipCommand.Follow<SimulatedNode>(var node) -> tell(node, new NodeEvent.Follow());
                case MembershipCommand.RunKernels<SimulatedNode>(var node) -> tell(node, new NodeEvent.RunKernels());
                case MembershipCommand.Outrun<SimulatedNode>(String name, int epoch) -> carryOut(
                        run.protocol().outrunsLateNodes()
                                ? machine.on(new RunEvent.NodeLate(name, epoch))
                                : List.of());
                case MembershipCommand.AddNode<SimulatedNode>(String name, var versions) ->
                    carryOut(machine.on(new RunEvent.NodeJoined(name, versions)));
                case MembershipCommand.Recover<SimulatedNode>(String reason) -> carryOut(machine.succeed(reason));
                case MembershipCommand.LoseNode<SimulatedNode>(String name, String reason) ->
                    ask(new RunEvent.NodeLost(name, reason));
                case MembershipCommand.StopAfterStep<SimulatedNode> _ -> ask(new RunEvent.StopRequested());
                case MembershipCommand.End<SimulatedNode>(var failure) -> end(failure.orElse("it was stopped"));
                case MembershipCommand.Begin<SimulatedNode> _ -> {
                    assertEquals(settings.firstStep(), records.committed, "the steps of a run that begins");
                    records.hasBegun = false;
                }
                case MembershipCommand.RefuseRun<SimulatedNode>(String why) -> fail(why);
                case MembershipCommand.ReportMissing<SimulatedNode> _,MembershipCommand.ReportGone<SimulatedNode> _ ->
                    {
                    }
            }
        }
    }

    /** Loses orders to a part of the cluster from which this coordinator is cut off for ever. */
    private void tell(SimulatedNode node, NodeEvent.Order order) {
        if (!cluster.isOutOfReach(host, node)) {
            node.tell(this, new NodeEvent.Ordered(term, order));
        }
    }

    private void tellAll(NodeEvent.Order order) {
        membership.nodes().values().forEach(node -> tell(node, order));
    }

    /** Gives a node an order if it takes part. */
    void tellNode(String name, NodeEvent.Order order) {
        Optional.ofNullable(membership.nodes().get(name)).ifPresent(node -> tell(node, order));
    }

    // The run.

    void hosted(SimulatedRank rank) {
        if (!isLost && rank.incarnation().equals(machine.incarnation(rank.rank()))) {
            known[rank.rank()] = rank;
        }
    }

    /** Events before it leads were meant for another coordinator, and a rank that it does not know starts again. */
    void ask(RunEvent event) {
        boolean isUnknown = event instanceof RunEvent.EpochReady ready && known[ready.from().rank()] == null;
        if (isRunning() && !isUnknown) {
            carryOut(machine.on(event));
        }
    }

    void take(CheckpointEvent event) {
        if (isRunning()) {
            checkpoints.take(event);
        }
    }

    private void end(String why) {
        if (cluster.leader() == this) {
            fail("the run failed: " + why);
        }
        lose(); // a part without a majority ends
    }

    private void carryOut(List<RunCommand> commands) {
        for (RunCommand command : commands) {
            switch (command) {
                case RunCommand.StartPass(Pass pass, var updates, var told) -> {
                    records.hasBegun = true;
                    told.forEach(rank -> tell(rank, to -> to.startPass(pass, updates)));
                }
                case RunCommand.Update(var update, var told) -> {
                    isUpdating |= update.step() == committed + settings.stepsPerPass() - 1;
                    told.forEach(rank -> tell(rank, to -> to.applyUpdate(update)));
                }
                case RunCommand.CommitStep commit -> commit(commit);
                case RunCommand.NotifyCommit(String name, Commit commit) ->
                    tellNode(name, new NodeEvent.Committed(commit));
                case RunCommand.ReportValidation(long stepsDone, double loss) -> {
                    run.truth().validates(stepsDone, loss);
                    records.validation.add(stepsDone);
                }
                case RunCommand.NotifyCheckpoint(CheckpointEvent event) -> checkpoints.take(event);
                case RunCommand.KeepCopies(long stepsDone, var buddies) ->
                    tellAll(new NodeEvent.KeepCopies(stepsDone, buddies, membership.receiverIds()));
                case RunCommand.ReportCheckpointFailed _ -> fail(command + ", but every part was written");
                case RunCommand.Finish(long stepsDone) -> {
                    assertEquals(committed, stepsDone, "steps at the end");
                    checkpoints.checkEnd(committed);
                    records.isOver = cluster.leader() == this;
                    isLost = !records.isOver;
                }
                case RunCommand.EnterEpoch enter -> {
                    isCaughtUp = false;
                    isUpdating &= enter.stepsDone() == committed && enter.restarted().size() < known.length;
                    committed = enter.stepsDone();
                    tellAll(new NodeEvent.EnterEpoch(enter.epoch(), enter.restarted(), enter.stepsDone(),
                            enter.hosts(), enter.since()));
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
                case RunCommand.Fail(String reason) -> end(reason);
            }
        }
    }

    void tell(int rank, Consumer<SimulatedRank> news) {
        SimulatedRank to = known[rank];
        boolean isThere = to.incarnation().equals(machine.incarnation(rank)); // or its successor was not heard of
        if (isThere && !cluster.isOutOfReach(host, to.node())) {
            to.tell(term, () -> news.accept(to));
        }
    }

    private void commit(RunCommand.CommitStep commit) {
        isUpdating = false;
        assertEquals(committed, commit.results().getFirst().step(), "the step that is committed");
        commit.results().forEach(run.truth()::commits);
        committed += commit.results().size();
        records.committed = Math.max(records.committed, committed);
        for (int rank = 0; rank < known.length; rank++) {
            SimulatedNode at = membership.nodes().get(hostOf(rank));
            int of = rank;
            boolean isOutOfSight = at.isDead() || !cluster.reaches(host, at);
            run.stagesOf(rank).forEach(stage -> assertTrue(isOutOfSight || at.snapshots().find(of, stage, committed)
                    .equals(OptionalLong.of(run.truth().weights(of, stage, committed))), "what stage " + stage
                            + " has kept"));
        }
        tellAll(new NodeEvent.Committed(commit.commit()));
    }

    @Override
    public String toString() {
        return (isRunning() ? "" : "not leading yet; ") + committed + " steps committed, " + (isLost
                ? "the coordinator is lost"
                : "epoch " + machine.epoch() + ", the coordinator misses " + machine.missing() + " and copies of "
                        + machine.awaitsCopiesOf())
                + checkpoints;
    }
}
