package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.transport.Edge;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A node: its actor, which begins epochs and starts ranks, and its transport's thread, which takes commands in the order in
 * which they were given, some time later.
 */
final class SimulatedNode {
    private final Simulation run;
    private final Carrier carrier;
    private final List<Integer> ranks;
    private final Deque<CoordinatorCommand.EnterEpoch> inbox = new ArrayDeque<>();
    private final Deque<Runnable> commands = new ArrayDeque<>();
    // By rank.
    private final Map<Integer, SimulatedRank> listeners = new TreeMap<>();
    private final Move enters;
    private final Move takesCommand;
    private int epoch;
    private int transportEpoch;
    private boolean isTaking;

    SimulatedNode(Simulation run, Carrier carrier, List<Integer> ranks) {
        this.run = run;
        this.carrier = carrier;
        this.ranks = ranks;
        this.enters = new Move("the node of ranks " + ranks + " is told of an epoch", () -> enter(inbox.remove()));
        this.takesCommand = new Move("the transport of ranks " + ranks + " takes a command", this::takeCommand);
    }

    void addMoves(List<Move> all) {
        if (!inbox.isEmpty()) {
            all.add(enters);
        }
        if (!commands.isEmpty()) {
            all.add(takesCommand);
        }
    }

    void tell(CoordinatorCommand.EnterEpoch news) {
        inbox.add(news);
    }

    private void enter(CoordinatorCommand.EnterEpoch news) {
        if (news.epoch() <= epoch) {
            return;
        }
        epoch = news.epoch();
        List<Integer> here = news.restarted().stream().filter(ranks::contains).toList();
        here.forEach(rank -> run.retire(rank));
        submitLater(() -> begin(news.epoch()));
        here.forEach(rank -> run.start(this, new Incarnation(rank, epoch), news.stepsDone()));
    }

    /** Buffers come back right after the news. */
    private void begin(int begun) {
        if (begun <= transportEpoch) {
            return;
        }
        transportEpoch = begun;
        listeners.values().forEach(rank -> rank.epochBegun(begun));
        carrier.enterAsSender(ranks, begun);
        carrier.enterAsReceiver(ranks, begun).forEach(edge -> listeners.get(edge.toRank()).returned(edge));
    }

    void register(SimulatedRank rank) {
        submit(() -> {
            listeners.put(rank.rank(), rank);
            if (transportEpoch > 0) {
                rank.epochBegun(transportEpoch);
            }
        });
    }

    void grant(int granted, Edge edge) {
        check(granted);
        submit(() -> {
            if (granted < transportEpoch) {
                listeners.get(edge.toRank()).returned(edge);
            } else {
                carrier.grant(granted, edge);
            }
        });
    }

    void send(Carrier.Message message) {
        check(message.epoch());
        submit(() -> {
            if (message.epoch() == transportEpoch) { // else it goes back, and stands in the log
                carrier.send(message);
            }
        });
    }

    private void check(int announced) {
        assertTrue(announced <= epoch, () -> "epoch " + announced + " has not begun, the present one is " + epoch);
    }

    /** A command that nothing stands before is taken at once: what it brings about is late enough. */
    private void submit(Runnable command) {
        if (commands.isEmpty() && !isTaking) {
            command.run();
        } else {
            commands.add(command);
        }
    }

    private void submitLater(Runnable command) {
        commands.add(command);
    }

    private void takeCommand() {
        isTaking = true;
        commands.remove().run();
        isTaking = false;
    }

    /** The first message of an edge arrives. */
    void arrive(Edge edge) {
        Carrier.Arrival arrival = carrier.arrival(edge);
        Carrier.Message message = carrier.take(edge, arrival);
        SimulatedRank receiver = listeners.get(edge.toRank());
        switch (arrival) {
            case LANDS -> receiver.landed(message, transportEpoch);
            case FINDS_NO_BUFFER -> receiver.messageLost("no buffer for " + message);
            case IS_FENCED -> {
            }
        }
    }

    /** The first message of an edge does not arrive; its receiver notices, or does not. */
    void lose(Edge edge, boolean isNoticed) {
        Carrier.Message message = carrier.take(edge, Carrier.Arrival.IS_FENCED);
        if (isNoticed && message.epoch() == transportEpoch) {
            listeners.get(edge.toRank()).messageLost("lost " + message);
        }
    }

    @Override
    public String toString() {
        return "the node of ranks " + ranks + " is in epoch " + epoch + ", its transport in " + transportEpoch
                + " with "
                + commands.size() + " commands to take";
    }
}
