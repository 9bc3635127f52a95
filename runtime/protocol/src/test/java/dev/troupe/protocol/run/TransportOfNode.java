package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Edge;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The transport's thread of a node, which takes commands in order, some time later. */
final class TransportOfNode {
    private final SimulatedNode node;
    private final Carrier carrier;
    private final Deque<Runnable> commands = new ArrayDeque<>();
    // By rank.
    private final Map<Integer, SimulatedRank> listeners = new TreeMap<>();
    private final Move takesCommand;
    /** The epoch that the node has reached; its transport may begin it later. */
    private int announced;
    private int epoch;
    private int term = Carrier.FIRST_TERM;
    private boolean isTaking;

    TransportOfNode(SimulatedNode node, Carrier carrier) {
        this.node = node;
        this.carrier = carrier;
        this.takesCommand = new Move("the transport of " + node.name() + " takes a command", this::takeCommand);
    }

    void addMoves(List<Move> all) {
        if (!commands.isEmpty()) {
            all.add(takesCommand);
        }
    }

    void announce(int reached) {
        announced = reached;
    }

    void beginLater(int ofTerm, int begun, List<Integer> here) {
        commands.add(() -> begin(ofTerm, begun, here));
    }

    /** Buffers come back right after the event, and ranks that live here no more receive nothing more. */
    private void begin(int ofTerm, int begun, List<Integer> here) {
        if (begun <= epoch) {
            return;
        }
        epoch = begun;
        term = ofTerm;
        listeners.values().forEach(rank -> rank.epochBegun(begun));
        carrier.enter(node.name(), here, ofTerm, begun).forEach(edge -> listeners.get(edge.toRank()).returned(edge));
        listeners.keySet().retainAll(here);
    }

    void register(SimulatedRank rank) {
        submit(() -> {
            listeners.put(rank.rank(), rank);
            if (epoch > 0) {
                rank.epochBegun(epoch);
            }
        });
    }

    void grant(int granted, Edge edge) {
        check(granted);
        submit(() -> {
            if (granted == epoch) {
                carrier.grant(node.name(), term, granted, edge);
            } else if (listeners.containsKey(edge.toRank())) {
                listeners.get(edge.toRank()).returned(edge);
            }
        });
    }

    void send(Carrier.Message message) {
        check(message.epoch());
        submit(() -> {
            if (message.epoch() == epoch) { // else it goes back, and stays in the log
                carrier.send(node.name(), term, message);
            }
        });
    }

    /** Requires that the transport has read a tensor that was sent on an edge, or has given it back. */
    void requireSent(Edge edge, long content) {
        assertTrue(node.isDead() || !carrier.isHeld(node.name(), edge, content),
                () -> "a tensor is used again that waits for a credit of " + edge);
    }

    private void check(int ofCommand) {
        assertTrue(ofCommand <= announced,
                () -> "epoch " + ofCommand + " has not begun, the present one is " + announced);
    }

    /** Takes a command at once if no other is before it: its effect is late enough. */
    private void submit(Runnable command) {
        if (node.isDead()) {
            return;
        }
        if (commands.isEmpty() && !isTaking) {
            command.run();
        } else {
            commands.add(command);
        }
    }

    private void takeCommand() {
        isTaking = true;
        commands.remove().run();
        isTaking = false;
    }

    /** Returns the term of the coordinator that began its epoch. */
    int term() {
        return term;
    }

    int epoch() {
        return epoch;
    }

    /** Returns whether messages for a rank arrive here. */
    boolean receivesFor(int rank) {
        return !node.isDead() && listeners.containsKey(rank);
    }

    /** The first message of an edge arrives. */
    void arrive(Edge edge) {
        Carrier.Arrival arrival = carrier.arrival(edge);
        Carrier.Message message = carrier.take(edge, arrival);
        SimulatedRank receiver = listeners.get(edge.toRank());
        switch (arrival) {
            case LANDS -> receiver.landed(message, epoch);
            case FINDS_NO_BUFFER -> receiver.messageLost("no buffer for " + message);
            case IS_FENCED -> {
            }
        }
    }

    /** Loses the first message of an edge; its receiver notices, or does not. */
    void lose(Edge edge, boolean isNoticed) {
        Carrier.Message message = carrier.take(edge, Carrier.Arrival.IS_FENCED);
        if (isNoticed && message.epoch() == epoch) {
            listeners.get(edge.toRank()).messageLost("lost " + message);
        }
    }

    /** Ends with the node. Its messages are still in flight. */
    void stop() {
        commands.clear();
        carrier.forget(node.name());
    }

    @Override
    public String toString() {
        return announced + ", its transport in " + epoch + " with " + commands.size() + " commands to take";
    }
}
