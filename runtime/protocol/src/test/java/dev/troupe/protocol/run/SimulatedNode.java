package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A node: its actor, which begins epochs and starts ranks, its transport's thread, which takes commands in the order in
 * which they were given, some time later, and what it keeps of its own ranks and for others.
 */
final class SimulatedNode {
    private final Simulation run;
    private final Carrier carrier;
    private final String name;
    // What it has started last of each rank that lives here.
    private final Map<Integer, SimulatedRank> hosted = new TreeMap<>();
    private final Deque<Runnable> inbox = new ArrayDeque<>();
    private final Deque<Runnable> commands = new ArrayDeque<>();
    // By rank.
    private final Map<Integer, SimulatedRank> listeners = new TreeMap<>();
    private final SimulatedSnapshots snapshots = new SimulatedSnapshots();
    private final SimulatedCopies copies;
    private final SimulatedParts parts;
    private final Move isTold;
    private final Move takesCommand;
    private int epoch;
    private int transportEpoch;
    private boolean isTaking;
    private final boolean isSuccessor;
    private boolean isMember;
    private boolean isDead;
    private RunCommand.EnterEpoch latest;
    private final TreeMap<Long, Commit> commits = new TreeMap<>();

    SimulatedNode(Simulation run, Carrier carrier, String name, boolean isSuccessor) {
        this.run = run;
        this.carrier = carrier;
        this.name = name;
        this.isSuccessor = isSuccessor;
        this.copies = new SimulatedCopies(run, this);
        this.parts = new SimulatedParts(run, this);
        this.isTold = new Move(name + " hears the coordinator", () -> inbox.remove().run());
        this.takesCommand = new Move("the transport of " + name + " takes a command", this::takeCommand);
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

    SimulatedCopies copies() {
        return copies;
    }

    void addMoves(List<Move> all) {
        if (!inbox.isEmpty() && run.cluster().reachesCoordinator(this)) {
            all.add(isTold);
        }
        if (!commands.isEmpty()) {
            all.add(takesCommand);
        }
        copies.addMoves(all);
        if (run.cluster().reachesCoordinator(this)) {
            parts.addMoves(all);
        }
    }

    /** A coordinator tells it what to host; a process that takes part already goes on. */
    void host(RunCommand.EnterEpoch now) {
        if (latest == null) {
            epoch = now.epoch();
            latest = now;
            ranksHere(now).forEach(
                    rank -> hosted.put(rank, run.start(this, new Incarnation(rank, epoch), run.firstStep())));
        }
    }

    private List<Integer> ranksHere(RunCommand.EnterEpoch now) {
        return IntStream.range(0, now.hosts().size()).filter(rank -> now.hosts().get(rank).equals(name)).boxed()
                .toList();
    }

    /** It is to write the parts of these ranks. */
    void pin(CheckpointAttempt attempt, List<Integer> ranks) {
        parts.pin(attempt, ranks);
    }

    void tell(Runnable news) {
        if (!isDead) {
            inbox.add(news);
        }
    }

    /** The node hears all its messages. */
    void hearAll() {
        while (!inbox.isEmpty()) {
            inbox.remove().run();
        }
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

    /** Whether another process had its name before. */
    boolean isSuccessor() {
        return isSuccessor;
    }

    /** All messages between the node and its coordinator are lost. */
    void loseControl() {
        inbox.clear();
        silence();
    }

    /** Another process has its name: what it said is not heard any more. */
    void silence() {
        copies.silence();
        parts.silence();
    }

    void hear(RunCommand news) {
        switch (news) {
            case RunCommand.EnterEpoch enter -> enter(enter);
            case RunCommand.KeepCopies keep -> copies.route(keep, hosted.keySet());
            case RunCommand.CommitStep(var _, Commit commit) -> {
                note(commit);
                copies.unwanted(hosted.keySet())
                        .forEach(rank -> snapshots.forget(rank, commit.stepsDone() - run.stepsPerPass()));
            }
            default -> throw new IllegalArgumentException(news + " is not for a node");
        }
    }

    void note(Commit commit) {
        commits.put(commit.stepsDone(), commit);
    }

    private void enter(RunCommand.EnterEpoch news) {
        if (news.epoch() <= epoch) {
            return;
        }
        epoch = news.epoch();
        List<String> before = hosts();
        latest = news;
        IntStream.range(0, before.size()).filter(rank -> !before.get(rank).equals(news.hosts().get(rank)))
                .forEach(rank -> copies.forget(before.get(rank)));
        news.restarted().stream().map(hosted::remove).filter(Objects::nonNull).forEach(SimulatedRank::retire);
        List<Integer> here = ranksHere(news);
        submitLater(() -> begin(news.epoch(), here));
        here.stream().filter(news.restarted()::contains).forEach(
                rank -> hosted.put(rank, run.start(this, new Incarnation(rank, epoch), news.stepsDone())));
    }

    /** Buffers come back right after the news, and who lives here no more hears nothing more. */
    private void begin(int begun, List<Integer> here) {
        if (begun <= transportEpoch) {
            return;
        }
        transportEpoch = begun;
        listeners.values().forEach(rank -> rank.epochBegun(begun));
        carrier.enter(name, here, begun).forEach(edge -> listeners.get(edge.toRank()).returned(edge));
        listeners.keySet().retainAll(here);
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
            if (granted == transportEpoch) {
                carrier.grant(name, granted, edge);
            } else if (listeners.containsKey(edge.toRank())) {
                listeners.get(edge.toRank()).returned(edge);
            }
        });
    }

    void send(Carrier.Message message) {
        check(message.epoch());
        submit(() -> {
            if (message.epoch() == transportEpoch) { // else it goes back, and stands in the log
                carrier.send(name, message);
            }
        });
    }

    /** The transport has read a tensor that was sent on an edge, or has given it back. */
    void requireSent(Edge edge, long content) {
        assertTrue(isDead || !carrier.isHeld(name, edge, content),
                () -> "a tensor is used again that waits for a credit of " + edge);
    }

    private void check(int announced) {
        assertTrue(announced <= epoch, () -> "epoch " + announced + " has not begun, the present one is " + epoch);
    }

    /** A command that nothing stands before is taken at once: what it brings about is late enough. */
    private void submit(Runnable command) {
        if (isDead) {
            return;
        }
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

    int transportEpoch() {
        return transportEpoch;
    }

    /** Whether messages for a rank arrive here. */
    boolean receivesFor(int rank) {
        return !isDead && listeners.containsKey(rank);
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

    /** Ends with all that it keeps. What it said is still on its way. */
    void die() {
        isDead = true;
        inbox.clear();
        commands.clear();
        copies.stop();
        parts.stop();
        carrier.forget(name);
        hosted.values().forEach(rank -> {
            rank.fail();
            rank.retire();
        });
    }

    boolean hasTakenPart() {
        return latest != null;
    }

    /** What it knows; empty where it has taken no part. */
    Optional<NodeReport> report() {
        if (latest == null) {
            return Optional.empty();
        }
        while (commits.size() > 3) {
            commits.pollFirstEntry();
        }
        List<Commit> known = List.copyOf(commits.values());
        Map<Integer, List<Long>> versions = new TreeMap<>();
        for (int rank = 0; rank < hosts().size(); rank++) {
            int of = rank;
            versions.put(rank, snapshots.versions(rank, run.stagesOf(rank).findFirst().getAsInt())
                    .filter(steps -> hasAll(of, steps)).boxed().toList());
        }
        return Optional.of(new NodeReport(epoch, hosts(),
                latest.since(), known, versions));
    }

    private List<String> hosts() {
        return latest == null ? run.firstHosts() : latest.hosts();
    }

    /** Returns the snapshots that a rank has of a step. */
    boolean hasAll(int rank, long stepsDone) {
        return run.stagesOf(rank).mapToObj(stage -> snapshots.find(rank, stage, stepsDone))
                .allMatch(OptionalLong::isPresent);
    }

    @Override
    public String toString() {
        return name + (isDead ? " (dead)" : "") + " with ranks " + hosted.keySet() + " is in epoch " + epoch
                + ", its transport in " + transportEpoch + " with " + commands.size() + " commands to take; has kept "
                + snapshots + "; " + copies + "; " + parts;
    }
}
