package dev.troupe.protocol.run;

import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.node.NodeCommand;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.node.NodeMachine;
import dev.troupe.protocol.node.RankGroup;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A node: the shell around its {@link NodeMachine}, as {@code NodeActor} is; its {@link TransportOfNode transport}; and
 * its snapshots of its own ranks and for others.
 */
final class SimulatedNode {
    /** The orders of a coordinator in flight. */
    private record Mail(Deque<NodeEvent.Ordered> orders, Move isHeard) {
    }

    private static final Duration PATIENCE = Duration.ofDays(1);

    private final Simulation run;
    private final String name;
    // The last started incarnation of each rank that lives here.
    private final Map<Integer, SimulatedRank> hosted = new TreeMap<>();
    // The orders of each coordinator in flight.
    private final Map<SimulatedCoordinator, Mail> inbox = new LinkedHashMap<>();
    private final TransportOfNode transport;
    private final SimulatedSnapshots snapshots = new SimulatedSnapshots();
    private final SimulatedCopies copies;
    private final SimulatedParts parts;
    // The term of the coordinator that it obeys.
    private int heard;
    private final boolean isSuccessor;
    private boolean isMember;
    private boolean isDead;
    private final NodeMachine machine;
    private boolean isAsking;
    // The coordinator that it has asked, and those with ends that are reported to it.
    private Optional<SimulatedCoordinator> asked = Optional.empty();
    private final Set<SimulatedCoordinator> watched = new LinkedHashSet<>();
    private final Set<SimulatedCoordinator> wronged = new HashSet<>();

    SimulatedNode(Simulation run, Carrier carrier, String name, boolean isSuccessor) {
        this.run = run;
        this.name = name;
        this.transport = new TransportOfNode(this, carrier);
        this.isSuccessor = isSuccessor;
        this.copies = new SimulatedCopies(run, this);
        this.parts = new SimulatedParts(run, this);
        this.machine = new NodeMachine(name, PATIENCE, run.stepsPerPass());
        take(new NodeEvent.Begin());
    }

    String name() {
        return name;
    }

    boolean isDead() {
        return isDead;
    }

    SimulatedSnapshots snapshots() {
        return snapshots;
    }

    TransportOfNode transport() {
        return transport;
    }

    SimulatedCopies copies() {
        return copies;
    }

    void addMoves(List<Move> all) {
        inbox.forEach((from, mail) -> {
            if (!mail.orders().isEmpty() && run.cluster().reaches(this, from.host())) {
                all.add(mail.isHeard());
            }
        });
        for (SimulatedCoordinator of : watched) {
            if (isLost(of) || of.host().isSuccessor() && !isDead && !wronged.contains(of)) {
                all.add(new Move(name + " hears that " + nameOf(of) + " is lost", () -> hearLoss(of)));
            }
        }
        transport.addMoves(all);
        copies.addMoves(all);
        if (run.cluster().reachesCoordinator(this)) {
            parts.addMoves(all);
        }
    }

    private static String nameOf(SimulatedCoordinator coordinator) {
        return "the coordinator of term " + coordinator.term();
    }

    /** Sends an order of a coordinator; orders of one coordinator arrive in their order. */
    void tell(SimulatedCoordinator from, NodeEvent.Ordered order) {
        if (!isDead) {
            inbox.computeIfAbsent(from, _ -> new Mail(new ArrayDeque<>(),
                    new Move(name + " hears " + nameOf(from), () -> hear(from)))).orders().add(order);
        }
    }

    /** Delivers the orders in flight to the node; answers to its questions meanwhile are not among them. */
    void hearAll() {
        inbox.forEach((from, mail) -> IntStream.range(0, mail.orders().size()).forEach(_ -> hear(from)));
    }

    private void hear(SimulatedCoordinator from) {
        NodeEvent.Ordered order = inbox.get(from).orders().remove();
        if (order.order() instanceof NodeEvent.HostRanks) {
            watched.add(from);
        }
        heard = order.term();
        take(order);
    }

    /** Reports the loss of its coordinator to the node, which may be wrong for a process that came back. */
    private void hearLoss(SimulatedCoordinator of) {
        watched.remove(of);
        wronged.add(of);
        asked = Optional.empty();
        take(new NodeEvent.CoordinatorLost(of.term(), false));
    }

    /** Returns whether the loss of a coordinator is still to be reported to it. */
    boolean hasUnheardLoss() {
        return watched.stream().anyMatch(this::isLost);
    }

    private boolean isLost(SimulatedCoordinator of) {
        return !isDead && (of.isLost() || run.cluster().isOutOfReach(of.host(), this));
    }

    /** Returns whether it asks this coordinator for ranks, and has not done so before. */
    boolean wantsToAsk(SimulatedCoordinator leader) {
        return isAsking && !asked.equals(Optional.of(leader));
    }

    /** Returns whether it asks for ranks, and an answer of this coordinator is in flight. */
    boolean awaitsAnswer(SimulatedCoordinator leader) {
        return isAsking && inbox.containsKey(leader) && !inbox.get(leader).orders().isEmpty()
                && run.cluster().reaches(this, leader.host());
    }

    void ask() {
        take(new NodeEvent.AskDue());
    }

    private void take(NodeEvent event) {
        machine.on(event).forEach(this::perform);
    }

    private void perform(NodeCommand command) {
        switch (command) {
            case NodeCommand.StartAsking _ -> isAsking = true;
            case NodeCommand.StopAsking _ -> isAsking = false;
            case NodeCommand.Ask(int term, var report, boolean _) ->
                asked = run.cluster().asked(this, term, report)
                        ? Optional.of(run.cluster().leader())
                        : Optional.empty();
            case NodeCommand.Report(RunEvent event) -> copies.report(event);
            case NodeCommand.Reach(int reached, long _) -> transport.announce(reached);
            case NodeCommand.Open _ -> open();
            case NodeCommand.Start(RankGroup group, long stepsDone) -> group.ranks()
                    .forEach(rank -> hosted.put(rank, run.start(this, rank, group, stepsDone)));
            case NodeCommand.GiveUp(RankGroup group, long _) -> group.ranks().stream().map(hosted::remove)
                    .filter(Objects::nonNull).forEach(SimulatedRank::retire);
            case NodeCommand.BreakOffCopies(String lost) -> copies.forget(lost);
            case NodeCommand.BeginEpoch(int begun, var hosts, var _) -> transport.beginLater(heard, begun,
                    IntStream.range(0, hosts.size()).filter(rank -> hosts.get(rank).equals(name)).boxed().toList());
            case NodeCommand.Route(var buddies) -> copies.route(buddies);
            case NodeCommand.SendCopies(var ranks, long stepsDone) -> copies.send(ranks, stepsDone);
            case NodeCommand.ForgetSnapshots(var ranks, long before) ->
                ranks.forEach(rank -> snapshots.forget(rank, before));
            case NodeCommand.WriteParts(var attempt, var ranks) -> parts.pin(attempt, ranks);
            case NodeCommand.Await _,NodeCommand.Log _,NodeCommand.LookLater _,NodeCommand.WarmUp _,NodeCommand.EndWarmUp _,NodeCommand.AwaitEnds _,NodeCommand.Free _ -> {
                // Time, messages and memory are not simulated here.
            }
            case NodeCommand.End _,NodeCommand.Refuse _,NodeCommand.Abandon _,NodeCommand.LetGo _,NodeCommand.Release _,NodeCommand.Stop _ ->
                throw new AssertionError(name + " ends: " + command);
        }
    }

    private void open() {
        take(new NodeEvent.Opened(run.firstStep(), run.tensorGroups(),
                run.keepsSnapshots() ? Optional.of(this::versions) : Optional.empty(), false));
    }

    private List<Long> versions(int rank) {
        return snapshots.versions(rank, run.stagesOf(rank).findFirst().getAsInt())
                .filter(steps -> hasAll(rank, steps)).boxed().toList();
    }

    /** Takes note that all stages of another node's rank have new copies here. */
    void copyArrived(int rank, long stepsDone) {
        take(new NodeEvent.CopyArrived(rank, stepsDone));
    }

    boolean isMember() {
        return isMember;
    }

    void becomeMember() {
        isMember = true;
    }

    /** The cluster takes it out. */
    void leave() {
        isMember = false;
    }

    /** Returns whether another process had its name before. */
    boolean isSuccessor() {
        return isSuccessor;
    }

    /** All messages between the node and its coordinator are lost. */
    void loseControl() {
        inbox.clear();
        silence();
    }

    /** Drops its messages that have not arrived, since another process has its name. */
    void silence() {
        copies.silence();
        parts.silence();
    }

    /** Ends with all its memory. Its messages are still in flight. */
    void die() {
        isDead = true;
        inbox.clear();
        copies.stop();
        parts.stop();
        transport.stop();
        hosted.values().forEach(rank -> {
            rank.fail();
            rank.retire();
        });
    }

    /** Returns its report on the run; empty if it has not opened it. */
    Optional<NodeReport> report() {
        return machine.report();
    }

    /** Returns whether a rank has all snapshots of a step here. */
    boolean hasAll(int rank, long stepsDone) {
        return run.stagesOf(rank).mapToObj(stage -> snapshots.find(rank, stage, stepsDone))
                .allMatch(OptionalLong::isPresent);
    }

    @Override
    public String toString() {
        return name + (isDead ? " (dead)" : "") + " with ranks " + hosted.keySet() + " is in epoch " + transport
                + "; has kept " + snapshots + "; " + copies + "; " + parts;
    }
}
