package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.replica.ReplicaTable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A whole run of machines with no actor, thread, clock or tensor: the machine of every rank in a {@link SimulatedRank},
 * that of the coordinator, a {@link SimulatedNode} for each node and a {@link Carrier} between them. At each point it
 * lists what may happen next, and the caller chooses: what is not chosen is late. The caller may also have ranks fail
 * and messages be lost. {@link Truth} knows what must come of it.
 */
final class Simulation {
    private static final int LONGEST_RUN = 200_000;

    private final TrainingPlan plan;
    private final RunSettings settings;
    private final Protocol protocol;
    private final Truth truth;
    private final Carrier carrier;
    private final World world;
    // Null while it is lost, and no other has taken over.
    private RunMachine coordinator;
    private ReplicaTable replicas;
    private final SimulatedNodes nodes = new SimulatedNodes();
    private final Move hearsOfDeath = new Move("the coordinator hears that a node is gone", this::hearOfDeath);
    private final Move takesOver = new Move("another coordinator takes over", this::takeOver);
    private final Move comesBack = new Move("a node comes back", this::comeBack);
    // By rank: what its node has started last, and whom the coordinator tells.
    private final SimulatedRank[] started;
    private final SimulatedRank[] known;
    // Incarnations of which something may still come.
    private final List<SimulatedRank> alive = new ArrayList<>();
    private final List<Deque<RunEvent>> failures = new ArrayList<>();
    private final List<Move> failureMoves = new ArrayList<>();
    private final Map<Edge, Move> arrivals = new HashMap<>();
    private final MessageContents contents = new MessageContents();

    private int moveCount;
    private boolean mayFail;
    private boolean over;
    private boolean isCaughtUp = true;
    private int silentLosses;
    private final List<Long> checkpoints = new ArrayList<>();
    private final List<Long> validation = new ArrayList<>();
    private long committed;
    private boolean isUpdating; // and so a step may be committed before a death is heard of

    Simulation(RunShape shape, RunSettings settings) {
        this(shape, settings, new Truth(shape.plan(), settings), new World(shape.pipeline(), 0, World.Copies.NONE),
                Protocol.WHOLE);
    }

    Simulation(RunShape shape, RunSettings settings, Truth truth, World world, Protocol protocol) {
        this.plan = shape.plan();
        this.settings = settings;
        this.protocol = protocol;
        this.truth = truth;
        this.world = world;
        this.replicas = new ReplicaTable(firstHosts(), world.buddies(), settings.firstStep());
        this.coordinator = new RunMachine(settings, replicas);
        this.carrier = new Carrier(firstHosts(), protocol.fencesEpochs());
        this.committed = settings.firstStep();
        this.started = new SimulatedRank[plan.rankCount()];
        this.known = new SimulatedRank[plan.rankCount()];
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            int name = rank;
            Deque<RunEvent> failed = new ArrayDeque<>();
            failures.add(failed);
            failureMoves
                    .add(new Move("the coordinator hears that rank " + name + " failed", () -> ask(failed.remove())));
        }
        for (int index = 0; index < world.withRanks() + world.standbys(); index++) {
            SimulatedNode node = join(World.name(index));
            node.host(IntStream.range(0, plan.rankCount()).filter(rank -> world.hostOf(rank).equals(node.name()))
                    .boxed().toList(), settings.firstStep());
        }
    }

    private SimulatedNode join(String name) {
        SimulatedNode node = new SimulatedNode(this, carrier, name);
        nodes.add(node);
        ask(new RunEvent.NodeJoined(name));
        return node;
    }

    private void comeBack() {
        join(nodes.nextToComeBack()).come(new RunCommand.EnterEpoch(coordinator.epoch(), List.of(), committed,
                "it comes late", replicas.hosts(), replicas.since()));
    }

    /** Goes to the end; {@code choice} picks the index of the next move, given all. */
    void run(ToIntFunction<List<Move>> choice) {
        run(choice, _ -> {
        });
    }

    /** Goes to the end; {@code mischief} may have something fail before each move. */
    void run(ToIntFunction<List<Move>> choice, Consumer<Simulation> mischief) {
        try {
            List<Move> moves = new ArrayList<>();
            while (!over) {
                mischief.accept(this);
                makeOne(moves, choice);
            }
            for (listMoves(moves); !moves.isEmpty(); listMoves(moves)) {
                count();
                moves.get(choice.applyAsInt(moves)).make().run();
            }
            checkEnd();
        } catch (AssertionError | RuntimeException failure) {
            throw new AssertionError(failure.getMessage() + "\nat move " + moveCount + "; " + situation(), failure);
        }
    }

    private void makeOne(List<Move> moves, ToIntFunction<List<Move>> choice) {
        listMoves(moves);
        if (!moves.isEmpty()) {
            count();
            moves.get(choice.applyAsInt(moves)).make().run();
        } else if (silentLosses > 0 && coordinator != null) { // nothing moves, and the coordinator sees so in time
            silentLosses = 0;
            ask(new RunEvent.MessageLost(coordinator.epoch(), "nothing moves"));
        } else {
            fail("the run is stuck");
        }
    }

    private void count() {
        assertTrue(moveCount++ < LONGEST_RUN, "the run has no end");
    }

    private void listMoves(List<Move> moves) {
        moves.clear();
        alive.removeIf(SimulatedRank::isOver);
        for (SimulatedRank rank : alive) {
            rank.addMoves(moves);
        }
        for (int rank = 0; rank < failures.size(); rank++) {
            if (!failures.get(rank).isEmpty()) {
                moves.add(failureMoves.get(rank));
            }
        }
        for (Edge edge : carrier.flying()) {
            moves.add(arrivals.computeIfAbsent(edge,
                    _ -> new Move("a message arrives on " + edge, () -> arrive(edge))));
        }
        nodes.addMoves(moves);
        if (coordinator == null) {
            moves.add(takesOver);
        } else if (nodes.hasUnnoticedDeath()) {
            moves.add(hearsOfDeath);
        }
        if (nodes.hasSomeToComeBack() && !over && coordinator != null) {
            moves.add(comesBack);
        }
    }

    private void arrive(Edge edge) {
        nodes.receiverOf(edge).ifPresentOrElse(node -> node.arrive(edge),
                () -> carrier.take(edge, Carrier.Arrival.IS_FENCED));
    }

    /** Hears every node that is there; what the one before told them is heard by then. */
    private void takeOver() {
        while (nodes.hasUnnoticedDeath()) {
            nodes.notice();
        }
        Map<String, NodeReport> told = nodes.reports(plan);
        CoordinatorFailover failover = CoordinatorFailover
                .of(told, new Commit(settings.firstStep(), settings.lossScale())).orElseThrow();
        replicas = new ReplicaTable(failover.hosts(), failover.since(), world.buddies(), settings.firstStep());
        coordinator = new RunMachine(
                settings.savedAt(checkpoints.isEmpty() ? settings.savedStep() : checkpoints.getLast()), replicas,
                failover);
        told.keySet().forEach(node -> ask(new RunEvent.NodeJoined(node)));
        carryOut(coordinator.succeed("the coordinator is lost", told));
    }

    private void hearOfDeath() {
        SimulatedNode dead = nodes.notice();
        ask(new RunEvent.NodeLost(dead.name(), dead.name() + " is gone"));
    }

    SimulatedNode node(String name) {
        return nodes.find(name);
    }

    List<String> firstHosts() {
        return IntStream.range(0, plan.rankCount()).mapToObj(world::hostOf).toList();
    }

    boolean sharesMemory() {
        return world.copies() == World.Copies.SHARED;
    }

    IntStream stagesOf(int rank) {
        return plan.stagesOf(rank).stream().mapToInt(Integer::intValue);
    }

    int rankOf(int stage) {
        return IntStream.range(0, started.length).filter(rank -> plan.stagesOf(rank).contains(stage)).sum();
    }

    private void checkEnd() {
        assertTrue(isCaughtUp, "the run is over, and it was not told that a recovery is");
        assertTrue(carrier.isEmpty(), () -> "messages are left over: " + carrier);
        EndCheck end = new EndCheck(plan, truth, carrier, committed);
        Stream.of(started).filter(rank -> !node(replicas.hosts().get(rank.rank())).isDead()).forEach(end::check);
    }

    // What a caller may do and ask.

    /** The user asks for the end of the run. */
    void stop() {
        ask(new RunEvent.StopRequested());
    }

    /** Has a rank fail, with all that it computes and all that was told to it; false where it cannot now. */
    boolean crash(int rank) {
        SimulatedRank victim = started[rank];
        if (!canFail(victim)) {
            return false;
        }
        victim.fail();
        return suspect(victim);
    }

    /** Has a rank taken for hanging although it is not; false where it cannot be now. */
    boolean suspect(int rank) {
        return canFail(started[rank]) && suspect(started[rank]);
    }

    private boolean suspect(SimulatedRank victim) {
        return failures.get(victim.rank()).add(new RunEvent.RankFailed(victim.incarnation(), "it failed"));
    }

    private boolean canFail(SimulatedRank victim) {
        return mayFail && !over && victim.isBorn() && !victim.hasFailed();
    }

    /** How many messages are on their way. */
    int messagesOnTheirWay() {
        return mayFail && !over ? carrier.flying().size() : 0;
    }

    /** Loses one of the messages on their way. */
    void lose(int message, boolean isNoticed) {
        Edge edge = carrier.flying().get(message);
        Optional<SimulatedNode> receiver = nodes.receiverOf(edge);
        silentLosses += isNoticed && receiver.isPresent() ? 0 : 1;
        receiver.ifPresentOrElse(node -> node.lose(edge, isNoticed),
                () -> carrier.take(edge, Carrier.Arrival.IS_FENCED));
    }

    int nodeCount() {
        return nodes.count();
    }

    /**
     * Has a node die with all that is on it; false where it cannot now, or where the run could not go on: another died
     * of which the coordinator does not know, or copies are not there yet.
     */
    boolean kill(int node) {
        SimulatedNode victim = nodes.get(node);
        List<Integer> ranks = IntStream.range(0, started.length)
                .filter(rank -> replicas.hosts().get(rank).equals(victim.name())).boxed().toList();
        if (!mayFail || over || coordinator == null || victim.isDead() || nodes.hasUnnoticedDeath()
                || nodes.living() == 1 || replicas.recoverable(ranks, committed).isEmpty()
                || isUpdating && replicas.recoverable(ranks, committed + 1).isEmpty()) {
            return false;
        }
        nodes.die(victim);
        return true;
    }

    /** Has one of the messages on their way come twice. */
    void duplicate(int message) {
        carrier.duplicate(carrier.flying().get(message));
    }

    /** Has the coordinator be lost with all that it knows; false where it cannot be now. */
    boolean loseCoordinator() {
        if (!mayFail || over || coordinator == null) {
            return false;
        }
        coordinator = null;
        return true;
    }

    int rankCount() {
        return started.length;
    }

    int moveCount() {
        return moveCount;
    }

    long committed() {
        return committed;
    }

    List<Long> checkpoints() {
        return checkpoints;
    }

    List<Long> validation() {
        return validation;
    }

    // What ranks and nodes ask and do.

    Truth truth() {
        return truth;
    }

    Protocol protocol() {
        return protocol;
    }

    long firstStep() {
        return settings.firstStep();
    }

    SimulatedRank start(SimulatedNode node, Incarnation incarnation, long stepsDone) {
        SimulatedRank rank = new SimulatedRank(this, plan, node, incarnation, stepsDone);
        started[rank.rank()] = rank;
        alive.add(rank);
        return rank;
    }

    void hosted(SimulatedRank rank) {
        if (coordinator != null && rank.incarnation().equals(coordinator.incarnation(rank.rank()))) {
            known[rank.rank()] = rank;
        }
    }

    MessageContents contents() {
        return contents;
    }

    void ask(RunEvent event) {
        if (coordinator != null) {
            carryOut(coordinator.on(event));
        }
    }

    private void carryOut(List<RunCommand> commands) {
        for (RunCommand command : commands) {
            switch (command) {
                case RunCommand.StartPass(Pass pass, var told) -> {
                    mayFail = true;
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
                    truth.validates(stepsDone, loss);
                    validation.add(stepsDone);
                }
                case RunCommand.WriteCheckpoint(long stepsDone, var told) ->
                    told.forEach(rank -> tell(rank, to -> to.writeCheckpoint(stepsDone)));
                case RunCommand.CommitCheckpoint(long stepsDone, var _, var parts) ->
                    commitCheckpoint(stepsDone, parts);
                case RunCommand.KeepCopies keep -> nodes.tellAll(keep);
                case RunCommand.AbandonCheckpoint(long stepsDone) ->
                    assertEquals(committed, stepsDone, "steps in the checkpoint that is done without");
                case RunCommand.ReportCheckpointFailed _ -> fail(command + ", but every part was written");
                case RunCommand.Finish(long stepsDone) -> {
                    assertEquals(committed, stepsDone, "steps at the end");
                    over = true;
                }
                case RunCommand.EnterEpoch enter -> {
                    isCaughtUp = false;
                    isUpdating &= enter.stepsDone() == committed && enter.restarted().size() < started.length;
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

    private void tell(int rank, Consumer<SimulatedRank> news) {
        SimulatedRank to = known[rank];
        to.tell(() -> news.accept(to));
    }

    private void commit(StepResult result) {
        assertEquals(committed++, result.step(), "the step that is committed");
        truth.commits(result);
        for (int stage = 0; stage < plan.partition().stageCount(); stage++) {
            SimulatedNode host = node(replicas.hosts().get(rankOf(stage)));
            assertTrue(host.isDead() || host.snapshots().find(stage, committed)
                    .equals(OptionalLong.of(truth.weights(stage, committed))), "what stage " + stage + " has kept");
        }
    }

    private void commitCheckpoint(long stepsDone, List<CheckpointPart> parts) {
        assertEquals(committed, stepsDone, "steps in the checkpoint");
        assertEquals(settings.rankCount(), parts.size(), "parts of a checkpoint");
        for (int rank = 0; rank < parts.size(); rank++) {
            assertEquals(new CheckpointPart("rank-" + rank, stepsDone, truth.checksum(rank, stepsDone)),
                    parts.get(rank));
        }
        checkpoints.add(stepsDone);
        ask(new RunEvent.CheckpointCommitted());
    }

    private String situation() {
        StringBuilder text = new StringBuilder(committed + " steps committed, "
                + (coordinator == null
                        ? "no coordinator"
                        : "epoch " + coordinator.epoch() + ", the coordinator misses " + coordinator.missing()
                                + " and copies of " + coordinator.awaitsCopiesOf()));
        for (SimulatedRank rank : alive) {
            text.append("\n  ").append(rank.situation());
        }
        return text.append(nodes).append(carrier).toString();
    }
}
