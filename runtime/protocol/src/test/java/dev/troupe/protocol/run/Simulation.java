package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.RunSettings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A whole run of machines with no actor, thread, clock or tensor: the machine of every rank in a {@link SimulatedRank},
 * those of the coordinator in a {@link SimulatedCoordinator}, a {@link SimulatedNode} for each node and a {@link Carrier}
 * between them. At each point it lists what may happen next, and the caller chooses: what is not chosen is late. The
 * caller may also have ranks fail and messages be lost. {@link Truth} knows what must come of it.
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
    private final SimulatedCoordinator coordinator;
    private final Move hearsOfDeath = new Move("the coordinator hears that a node is gone", this::hearOfDeath);
    private final Move takesOver = new Move("another coordinator takes over", this::takeOver);
    private final Move comesBack = new Move("a node comes back", this::comeBack);
    // By rank: what its node has started last.
    private final SimulatedRank[] started;
    // Incarnations of which something may still come.
    private final List<SimulatedRank> alive = new ArrayList<>();
    private final List<Deque<RunEvent>> failures = new ArrayList<>();
    private final List<Move> failureMoves = new ArrayList<>();
    private final Map<Edge, Move> arrivals = new HashMap<>();
    private final SimulatedGroups groups;
    private final MessageContents contents = new MessageContents();

    private int moveCount;
    private int silentLosses;

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
        this.coordinator = new SimulatedCoordinator(this, settings, world, nodes);
        this.carrier = new Carrier(firstHosts(), protocol.fencesEpochs());
        this.groups = new SimulatedGroups(protocol.fencesGroups());
        this.started = new SimulatedRank[plan.rankCount()];
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
        join(nodes.nextToComeBack()).come(coordinator.present());
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
            while (!coordinator.isOver()) {
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
        } else if (silentLosses > 0 && !coordinator.isLost()) { // nothing moves, and the coordinator sees so in time
            silentLosses = 0;
            coordinator.standStill();
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
        coordinator.checkpoints().addMoves(moves);
        if (coordinator.isLost()) {
            moves.add(takesOver);
        } else if (nodes.hasUnnoticedDeath()) {
            moves.add(hearsOfDeath);
        }
        if (nodes.hasSomeToComeBack() && !coordinator.isOver() && !coordinator.isLost()) {
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
        coordinator.takeOver(nodes.reports(plan));
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

    private void checkEnd() {
        assertTrue(coordinator.isCaughtUp(), "the run is over, and it was not told that a recovery is");
        assertTrue(carrier.isEmpty(), () -> "messages are left over: " + carrier);
        EndCheck end = new EndCheck(plan, truth, carrier, committed());
        Stream.of(started).filter(rank -> !node(coordinator.hostOf(rank.rank())).isDead()).forEach(end::check);
    }

    // What a caller may do and ask.

    /** The user asks for the end of the run. */
    void stop() {
        coordinator.stop();
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
        return coordinator.mayFail() && victim.isBorn() && !victim.hasFailed();
    }

    /** How many messages are on their way. */
    int messagesOnTheirWay() {
        return coordinator.mayFail() ? carrier.flying().size() : 0;
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
                .filter(rank -> coordinator.hostOf(rank).equals(victim.name())).boxed().toList();
        if (!coordinator.mayFail() || coordinator.isLost() || victim.isDead() || nodes.hasUnnoticedDeath()
                || nodes.living() == 1 || !coordinator.canLose(ranks)) {
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
        if (!coordinator.mayFail() || coordinator.isLost()) {
            return false;
        }
        coordinator.lose();
        return true;
    }

    /** Has the disk be full for what is written next beside training; false where nothing is. */
    boolean fillDisk() {
        boolean isUnderWay = coordinator.mayFail() && coordinator.checkpoints().isBesideUnderWay();
        if (isUnderWay) {
            coordinator.checkpoints().fillDisk();
        }
        return isUnderWay;
    }

    /** Has the run give up the checkpoint for which it waits; false where it waits for none. */
    boolean giveUpCheckpoint() {
        return coordinator.mayFail() && coordinator.giveUpCheckpoint();
    }

    int rankCount() {
        return started.length;
    }

    int moveCount() {
        return moveCount;
    }

    long committed() {
        return coordinator.committed();
    }

    List<Long> checkpoints() {
        return coordinator.checkpoints().standing();
    }

    List<Long> validation() {
        return coordinator.validation();
    }

    // What ranks and nodes ask and do.

    Truth truth() {
        return truth;
    }

    Protocol protocol() {
        return protocol;
    }

    boolean keepsSnapshots() {
        return settings.keepsSnapshots();
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

    SimulatedCoordinator coordinator() {
        return coordinator;
    }

    SimulatedGroups groups() {
        return groups;
    }

    MessageContents contents() {
        return contents;
    }

    void ask(RunEvent event) {
        coordinator.ask(event);
    }

    private String situation() {
        StringBuilder text = new StringBuilder(coordinator.toString());
        for (SimulatedRank rank : alive) {
            text.append("\n  ").append(rank.situation());
        }
        return text.append(nodes).append(carrier).toString();
    }
}
