package dev.troupe.protocol.run;

import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.membership.MembershipEvent;
import dev.troupe.protocol.membership.Surroundings;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The cluster, the launcher and the network around a run: they decide on the members, the leading coordinator, true and
 * false reports of ends, processes that come back under an old name, and the nodes between which messages arrive. A part of
 * the network without a majority ends, some time after the majority has taken its nodes out; until then the part may have a
 * coordinator of its own.
 */
final class SimulatedCluster implements Surroundings {
    /** Three of them are longer than a coordinator waits for reports. */
    private static final long TICK_NANOS = 4_000_000_000L;

    private final Simulation run;
    private final RunSettings settings;
    private final World world;
    private final SimulatedNodes nodes;
    private final RunRecords records;
    private final Move takesOver = new Move("another coordinator begins", this::begin);
    private final Move passes = new Move("time passes", this::tick);
    private final Move comesBack = new Move("a node comes back", this::comeBack);
    private final Move parts = new Move("the cluster takes out the nodes that are cut off", this::part);
    private final Move heals = new Move("the network heals", this::heal);
    // The processes that the others cannot reach.
    private final Set<SimulatedNode> cutOff = new LinkedHashSet<>();
    private boolean isDecided;
    private SimulatedCoordinator leader;
    // The coordinator of the part that is cut off.
    private Optional<SimulatedCoordinator> former = Optional.empty();
    private long nowNanos;
    private int terms;

    SimulatedCluster(Simulation run, RunSettings settings, World world, SimulatedNodes nodes, RunRecords records) {
        this.run = run;
        this.settings = settings;
        this.world = world;
        this.nodes = nodes;
        this.records = records;
    }

    /** Starts all processes, and the run once they have joined. */
    void start() {
        for (int index = 0; index < world.withRanks() + world.standbys(); index++) {
            nodes.add(run.newNode(World.name(index)));
        }
        nodes.all().forEach(SimulatedNode::becomeMember);
        leader = new SimulatedCoordinator(run, settings, world, records, nodes.get(0), nextTerm(), this);
        for (SimulatedNode node : nodes.all()) {
            node.ask();
            nodes.all().forEach(SimulatedNode::hearAll); // which coordinator to follow
            nodes.all().forEach(SimulatedNode::hearAll); // what to host
        }
    }

    SimulatedCoordinator leader() {
        return leader;
    }

    /** Returns the coordinator that receives messages of a process. */
    SimulatedCoordinator coordinatorOf(SimulatedNode node) {
        return cutOff.contains(node) ? former.orElse(leader) : leader;
    }

    /** Returns whether messages between two processes arrive. */
    boolean reaches(SimulatedNode one, SimulatedNode other) {
        return cutOff.isEmpty() || cutOff.contains(one) == cutOff.contains(other);
    }

    /** Returns whether a message of one process never arrives at the other. */
    boolean isOutOfReach(SimulatedNode one, SimulatedNode other) {
        return isDecided && !reaches(one, other);
    }

    boolean reachesCoordinator(SimulatedNode node) {
        return reaches(node, coordinatorOf(node).host());
    }

    // The facts for a membership machine.

    @Override
    public long nowNanos() {
        return nowNanos;
    }

    @Override
    public Set<String> present() {
        return nodes.all().stream().filter(node -> node.isMember() && !(isDecided && cutOff.contains(node)))
                .map(SimulatedNode::name).collect(Collectors.toSet());
    }

    @Override
    public OptionalLong newestCheckpoint() {
        return records.checkpoints.isEmpty() ? OptionalLong.empty() : OptionalLong.of(records.checkpoints.getLast());
    }

    @Override
    public long committedSteps() {
        return records.committed;
    }

    // The events.

    void addMoves(List<Move> moves) {
        if (records.isOver) {
            return;
        }
        if (leader.isLost() && oldestMember().isPresent()) {
            moves.add(takesOver);
        }
        leader.addMoves(moves);
        former.ifPresent(of -> of.addMoves(moves));
        boolean waits = !leader.isLost() && !leader.isRunning();
        boolean asks = false;
        for (SimulatedNode node : nodes.all()) {
            if (node.isDead() && node.isMember()) {
                moves.add(new Move("the cluster takes out " + node.name(), node::leave));
            } else if (mayBecomeMember(node)) {
                moves.add(new Move("the new process of " + node.name() + " is a member", node::becomeMember));
            }
            if (isDecided && cutOff.contains(node) && !node.isDead()) {
                moves.add(new Move(node.name() + " ends, for its part has no majority", () -> end(node)));
            }
            asks |= waits && (node.hasUnheardLoss() || node.awaitsAnswer(leader));
            if (mayAsk(node)) {
                asks = true;
                moves.add(new Move(node.name() + " asks to take part", node::ask));
            }
        }
        if (waits && (!asks || leader.hasHeardEnough())) {
            moves.add(passes);
        }
        if (!cutOff.isEmpty() && !isDecided) {
            moves.add(parts);
            moves.add(heals);
        } else if (!cutOff.isEmpty() && cutOff.stream().allMatch(SimulatedNode::isDead)) {
            moves.add(heals);
        }
        if (nodes.hasSomeToComeBack() && cutOff.isEmpty()) {
            moves.add(comesBack);
        }
    }

    /** Returns whether a process may become a member: the cluster removes the former process of its name first. */
    private boolean mayBecomeMember(SimulatedNode node) {
        return !node.isDead() && !node.isMember() && nodes.all().stream()
                .noneMatch(other -> other.isMember() && other.name().equals(node.name()));
    }

    private boolean mayAsk(SimulatedNode node) {
        return !node.isDead() && node.isMember() && !leader.isLost() && node.wantsToAsk(leader)
                && reaches(node, leader.host());
    }

    /** A process asks the leader; false if the question is lost. */
    boolean asked(SimulatedNode node, int term, Optional<NodeReport> report) {
        boolean arrives = !leader.isLost() && reaches(node, leader.host());
        if (arrives) {
            leader.asked(node, term, report);
        }
        return arrives;
    }

    /** Of two coordinators the later one has the higher term, unless the protocol is broken. */
    private int nextTerm() {
        terms += run.protocol().namesCoordinators() || terms == 0 ? 1 : 0;
        return terms;
    }

    private Optional<SimulatedNode> oldestMember() {
        return nodes.all().stream()
                .filter(node -> !node.isDead() && node.isMember() && !cutOff.contains(node)).findFirst();
    }

    private void begin() {
        leader = new SimulatedCoordinator(run, settings, world, records, oldestMember().orElseThrow(), nextTerm(),
                this);
    }

    private void tick() {
        nowNanos += TICK_NANOS;
        leader.take(new MembershipEvent.Tick<>());
    }

    private void comeBack() {
        nodes.add(run.newNode(nodes.nextToComeBack()));
    }

    /** A process ends, and with it its coordinator. */
    void end(SimulatedNode node) {
        nodes.die(node);
        if (isDecided && cutOff.contains(node)) {
            run.loseWords(node);
        }
        if (leader.host() == node && !leader.isLost()) {
            leader.lose();
        }
        former.filter(of -> of.host() == node).ifPresent(SimulatedCoordinator::lose);
    }

    /** A coordinator that takes over ends the process that still has the lock of the run's directory. */
    void takeDirectory() {
        former.filter(of -> !of.host().isDead() && run.protocol().locksDirectory()).ifPresent(of -> end(of.host()));
    }

    /** A process is cut off from all others. */
    void cutOff(SimulatedNode node) {
        cutOff.add(node);
    }

    boolean isParted() {
        return !cutOff.isEmpty();
    }

    private void part() {
        isDecided = true;
        nodes.all().stream().filter(node -> !reachesCoordinator(node)).forEach(run::loseWords);
        if (cutOff.contains(leader.host())) {
            former = Optional.of(leader);
            leader = leader.lostElsewhere();
        }
    }

    /** The run is over: a part without a majority that has not ended yet does so now, and the network heals. */
    void settle() {
        if (isDecided) {
            cutOff.stream().filter(node -> !node.isDead()).forEach(this::end);
        }
        heal();
    }

    private void heal() {
        cutOff.clear();
        isDecided = false;
        former = Optional.empty();
    }

    /** Returns whether a process has ended, or is out of reach, as far as the cluster knows. */
    boolean isGone(SimulatedNode node) {
        return node.isDead() || isDecided && cutOff.contains(node);
    }

    @Override
    public String toString() {
        List<String> cut = new ArrayList<>();
        cutOff.forEach(node -> cut.add(node.name()));
        return leader + (cut.isEmpty() ? "" : "; cut off" + (isDecided ? " for ever: " : ": ") + cut)
                + former.map(of -> "; the part that is cut off has " + of).orElse("");
    }
}
