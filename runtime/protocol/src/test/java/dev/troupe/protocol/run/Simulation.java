package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.node.RankGroup;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * A whole run of machines with no actor, thread, clock or tensor: the machine of every rank in a {@link SimulatedRank}, the
 * coordinator's machines in a {@link SimulatedCoordinator}, a {@link SimulatedNode} for each process of a node, a
 * {@link Carrier} between them and a {@link SimulatedCluster} around them. At each point it lists the possible next events,
 * and the caller chooses; the others are late. The caller may also have ranks fail, messages be lost and the network part.
 * {@link Truth} knows the correct results.
 */
final class Simulation {
    private static final int LONGEST_RUN = 200_000;

    private final SimulatedPlan plan;
    private final RunSettings settings;
    private final Protocol protocol;
    private final Truth truth;
    private final Carrier carrier;
    private final World world;
    private final SimulatedNodes nodes = new SimulatedNodes();
    private final RunRecords records = new RunRecords();
    private final SimulatedCluster cluster;
    // By rank: the last incarnation started by its node.
    private final SimulatedRank[] started;
    // Incarnations that may still have an effect.
    private final List<SimulatedRank> alive = new ArrayList<>();
    private final RankFailures failures;
    private final Map<Edge, Move> arrivals = new HashMap<>();
    private final SimulatedGroups groups;
    private final MessageContents contents = new MessageContents();

    private int moveCount;
    private int silentLosses;
    private boolean hasLostControl;

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
        this.records.committed = settings.firstStep();
        this.carrier = new Carrier(firstHosts(), protocol.fencesEpochs());
        this.groups = new SimulatedGroups(protocol.fencesGroups());
        this.started = new SimulatedRank[plan.rankCount()];
        this.cluster = new SimulatedCluster(this, settings, world, nodes, records);
        this.failures = new RankFailures(plan.rankCount(), cluster);
        cluster.start();
    }

    /** A process of a node. */
    SimulatedNode newNode(String name) {
        return new SimulatedNode(this, carrier, name, nodes.find(name) != null);
    }

    /** Loses all messages of a process that have not arrived. */
    void loseWords(SimulatedNode node) {
        node.loseControl();
        alive.stream().filter(rank -> rank.node() == node).forEach(SimulatedRank::loseControl);
        failures.loseReports(node);
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
            while (!records.isOver) {
                mischief.accept(this);
                makeOne(moves, choice);
            }
            cluster.settle();
            for (listMoves(moves); !moves.isEmpty(); listMoves(moves)) {
                count();
                moves.get(choice.applyAsInt(moves)).make().run();
            }
            checkEnd();
        } catch (FaultSweep.CannotHappen nothing) {
            throw nothing;
        } catch (AssertionError | RuntimeException failure) {
            throw new AssertionError(failure.getMessage() + "\nat move " + moveCount + "; " + situation(), failure);
        }
    }

    private void makeOne(List<Move> moves, ToIntFunction<List<Move>> choice) {
        listMoves(moves);
        if (!moves.isEmpty()) {
            count();
            moves.get(choice.applyAsInt(moves)).make().run();
        } else if ((silentLosses > 0 || hasLostControl) && cluster.leader().isRunning()) { // the stall is noticed in time
            silentLosses = 0;
            cluster.leader().standStill();
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
        failures.addMoves(moves);
        for (Edge edge : carrier.flying()) {
            if (!cluster.isParted() || mayArrive(edge)) {
                moves.add(arrivals.computeIfAbsent(edge,
                        _ -> new Move("a message arrives on " + edge, () -> arrive(edge))));
            }
        }
        nodes.addMoves(moves);
        cluster.addMoves(moves);
    }

    private boolean mayArrive(Edge edge) {
        SimulatedNode sender = nodes.find(carrier.hostOf(edge.fromRank()));
        return sender == null || nodes.receiverOf(edge).map(to -> cluster.reaches(sender, to)).orElse(true);
    }

    private void arrive(Edge edge) {
        nodes.receiverOf(edge).ifPresentOrElse(node -> node.transport().arrive(edge),
                () -> carrier.take(edge, Carrier.Arrival.IS_FENCED));
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

    List<List<Integer>> tensorGroups() {
        return IntStream.range(0, plan.rankCount()).mapToObj(plan::tensorGroup).distinct().toList();
    }

    IntStream stagesOf(int rank) {
        return plan.stagesOf(rank).stream().mapToInt(Integer::intValue);
    }

    private void checkEnd() {
        SimulatedCoordinator leader = cluster.leader();
        assertTrue(leader.isCaughtUp(), "the run is over, and it was not told that a recovery is");
        leader.givenUp().ifPresent(node -> fail("a process of " + node.name() + " lives and takes no part"));
        assertTrue(carrier.isEmpty(), () -> "messages are left over: " + carrier);
        EndCheck end = new EndCheck(plan, truth, carrier, committed());
        IntStream.range(0, plan.rankCount()).mapToObj(leader::known).filter(rank -> !rank.node().isDead())
                .forEach(end::check);
    }

    // The actions and questions of a caller.

    void stop() {
        cluster.leader().stop();
    }

    /** Has a rank fail, with its computations and orders; false if it cannot now. */
    boolean crash(int rank) {
        SimulatedRank victim = started[rank];
        if (!canFail(victim)) {
            return false;
        }
        victim.fail();
        return failures.report(victim);
    }

    /** Has a rank taken for hanging although it is not; false if it cannot be now. */
    boolean suspect(int rank) {
        return canFail(started[rank]) && failures.report(started[rank]);
    }

    private boolean canFail(SimulatedRank victim) {
        return mayFail() && victim.isBorn() && !victim.hasFailed();
    }

    /** Returns whether something may go wrong: the run has begun and is not over. */
    private boolean mayFail() {
        return records.hasBegun && !records.isOver;
    }

    /** Returns the number of messages in flight. */
    int messagesOnTheirWay() {
        return mayFail() ? carrier.flying().size() : 0;
    }

    /** Loses one of the messages in flight. */
    void lose(int message, boolean isNoticed) {
        Edge edge = carrier.flying().get(message);
        Optional<SimulatedNode> receiver = nodes.receiverOf(edge);
        silentLosses += isNoticed && receiver.isPresent() ? 0 : 1;
        receiver.ifPresentOrElse(node -> node.transport().lose(edge, isNoticed),
                () -> carrier.take(edge, Carrier.Arrival.IS_FENCED));
    }

    int nodeCount() {
        return nodes.count();
    }

    /**
     * Has a process of a node die with all its memory; false if it cannot now, or if the run could not continue: another
     * died of which the coordinator does not know, or copies are missing.
     */
    boolean kill(int node) {
        SimulatedNode victim = nodes.get(node);
        boolean may = mayLose(victim, 1);
        if (may) {
            cluster.end(victim);
        }
        return may;
    }

    /** Has the network cut a process off from all others; false if it cannot now, or if those have no majority. */
    boolean cutOff(int node) {
        SimulatedNode victim = nodes.get(node);
        boolean may = mayLose(victim, 2);
        if (may) {
            cluster.cutOff(victim);
        }
        return may;
    }

    /** Returns whether at least a number of others would be left that know of the run. */
    private boolean mayLose(SimulatedNode victim, int others) {
        SimulatedCoordinator leader = cluster.leader();
        return mayFail() && leader.isRunning() && !cluster.isParted() && !victim.isDead() && !leader.hasUnheardEnd()
                && leader.canLoseItself(victim, others)
                && leader.canLose(IntStream.range(0, started.length)
                        .filter(rank -> leader.hostOf(rank).equals(victim.name())).boxed().toList());
    }

    /** Loses one message between a rank and the coordinator; false if there is none. */
    boolean loseControl(int rank) {
        boolean isLost = mayFail() && !cluster.isParted() && started[rank].loseOneControl();
        hasLostControl |= isLost; // one new epoch need not bring it: a later one starts all ranks again
        return isLost;
    }

    /** Doubles one of the messages in flight. */
    void duplicate(int message) {
        carrier.duplicate(carrier.flying().get(message));
    }

    /** Loses the coordinator with all its knowledge; false if it cannot be lost now. */
    boolean loseCoordinator() {
        boolean may = mayFail() && cluster.leader().isRunning() && !cluster.isParted();
        if (may) {
            cluster.leader().lose();
        }
        return may;
    }

    /** Makes the disk full for the next write during training; false if there is none. */
    boolean fillDisk() {
        boolean isInProgress = mayFail() && cluster.leader().checkpoints().isInProgressDuringTraining();
        records.isDiskFull |= isInProgress;
        return isInProgress;
    }

    /** Returns whether the disk is full for the present write. */
    boolean takeFullDisk() {
        boolean wasFull = records.isDiskFull;
        records.isDiskFull = false;
        return wasFull;
    }

    /** Has the run give up the checkpoint for which it waits; false if it waits for none. */
    boolean giveUpCheckpoint() {
        return mayFail() && cluster.leader().giveUpCheckpoint();
    }

    int rankCount() {
        return started.length;
    }

    int moveCount() {
        return moveCount;
    }

    long committed() {
        return cluster.leader().committed();
    }

    List<Long> checkpoints() {
        return records.checkpoints;
    }

    List<Long> validation() {
        return records.validation;
    }

    // The questions and actions of ranks and nodes.

    Truth truth() {
        return truth;
    }

    Protocol protocol() {
        return protocol;
    }

    boolean keepsSnapshots() {
        return settings.keepsSnapshots();
    }

    int stepsPerPass() {
        return settings.stepsPerPass();
    }

    long firstStep() {
        return settings.firstStep();
    }

    SimulatedRank start(SimulatedNode node, int number, RankGroup group, long stepsDone) {
        SimulatedRank rank = new SimulatedRank(this, plan, node, number, group, stepsDone);
        started[rank.rank()] = rank;
        alive.add(rank);
        return rank;
    }

    SimulatedCluster cluster() {
        return cluster;
    }

    SimulatedGroups groups() {
        return groups;
    }

    MessageContents contents() {
        return contents;
    }

    private String situation() {
        StringBuilder text = new StringBuilder(cluster.toString());
        for (SimulatedRank rank : alive) {
            text.append("\n  ").append(rank.situation());
        }
        return text.append(nodes).append(carrier).toString();
    }
}
