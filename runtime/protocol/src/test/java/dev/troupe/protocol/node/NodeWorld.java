package dev.troupe.protocol.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.run.RunEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * A {@link NodeMachine} with its coordinators, its groups and their memory, in a random order of events. An assertion fails
 * at the first promise of {@link NodeSimulationTest} that the machine breaks.
 */
final class NodeWorld {
    private static final int MOVES = 120;
    private static final String NAME = "a";

    private final int seed;
    private final boolean areNamed;
    private final Random random;
    private final NodeMachine machine = new NodeMachine(NAME, Duration.ofSeconds(20), 1);
    private final List<CoordinatorOfNode> coordinators = new ArrayList<>();
    /** Events on the node itself, in the order of its mailbox. */
    private final Deque<NodeEvent> mailbox = new ArrayDeque<>();
    private final Set<RankGroup> atWork = new HashSet<>();
    private final Set<RankGroup> givenUp = new HashSet<>();
    private final Set<RankGroup> running = new HashSet<>();
    private final Set<RankGroup> freed = new HashSet<>();
    private List<String> hosts = List.of();
    private long stepsDone;
    private int term;
    /** The term of the coordinator with the last obeyed order to host ranks; 0 for none. */
    private int hostTerm;
    private int epoch = -1;
    private int epochsBegun;
    private boolean isOpen;
    private boolean isAsking;
    private boolean isAwaiting;
    private boolean looksLater;
    private boolean awaitsEnds;
    private boolean hasLetGo;
    private boolean isStopped;
    private boolean isOver;

    /**
     * @param areNamed whether an order names its coordinator by a term of its own; otherwise all have one term
     */
    NodeWorld(int seed, boolean areNamed) {
        this.seed = seed;
        this.areNamed = areNamed;
        this.random = new Random(seed);
        coordinators.add(new CoordinatorOfNode(1, random.nextInt(3), CoordinatorOfNode.anyHosts(random)));
        take(new NodeEvent.Begin());
    }

    int takeovers() {
        return coordinators.size() - 1;
    }

    int epochsBegun() {
        return epochsBegun;
    }

    private void require(boolean holds, String what) {
        assertTrue(holds, () -> "seed " + seed + ", epoch " + epoch + ": " + what);
    }

    void walk() {
        for (int move = 0; move < MOVES && !isStopped; move++) {
            move();
            requireHosted();
        }
        settle();
    }

    private void move() {
        CoordinatorOfNode leader = coordinators.getLast();
        switch (random.nextInt(16)) {
            case 0, 1, 2, 3, 4 -> deliver();
            case 5, 6, 7 -> happen();
            case 8 -> {
                if (isAsking) {
                    take(new NodeEvent.AskDue());
                }
            }
            case 9 -> look();
            case 10 -> leader.recover(random, stepsDone);
            case 11 -> {
                if (leader.isAlive) {
                    leader.commit(++stepsDone);
                }
            }
            case 12 -> leader.keepCopies(random, stepsDone);
            case 13 -> endAGroup();
            case 14 -> lose(leader);
            default -> {
                if (random.nextInt(20) == 0) {
                    take(random.nextBoolean()
                            ? new NodeEvent.Halt()
                            : new NodeEvent.CoordinatorLost(leader.term, true));
                } else if (isAwaiting && random.nextInt(20) == 0) {
                    isAwaiting = false;
                    take(new NodeEvent.PatienceOver());
                }
            }
        }
    }

    /** An order of some coordinator arrives. */
    private void deliver() {
        List<CoordinatorOfNode> speaking = coordinators.stream().filter(from -> !from.orders.isEmpty()).toList();
        if (!speaking.isEmpty()) {
            CoordinatorOfNode from = speaking.get(random.nextInt(speaking.size()));
            NodeEvent.Order order = from.orders.remove();
            if (from.term >= term) {
                term = from.term;
                obey(from, order);
            } else {
                watchIfHost(from, order);
                require(on(from, order).isEmpty(), order + " of a coordinator that has a successor has an effect");
            }
        }
    }

    private List<NodeCommand> on(CoordinatorOfNode from, NodeEvent.Order order) {
        return machine.on(new NodeEvent.Ordered(from.term, order));
    }

    private void obey(CoordinatorOfNode from, NodeEvent.Order order) {
        boolean isOld = order instanceof NodeEvent.EnterEpoch enter && enter.epoch() <= epoch;
        watchIfHost(from, order);
        if (order instanceof NodeEvent.HostRanks host) {
            hear(from, host);
        } else if (order instanceof NodeEvent.EnterEpoch enter && isOpen && !hasLetGo && !isOld) {
            hosts = enter.hosts();
        }
        List<NodeCommand> commands = on(from, order);
        require(!isOld || commands.isEmpty(), order + " has an effect");
        require(!isOld || from != coordinators.getLast(), order + " of the coordinator that leads has no effect");
        perform(commands);
    }

    /** The node watches a coordinator from its order to host ranks on, whether it obeys the order or not. */
    private void watchIfHost(CoordinatorOfNode from, NodeEvent.Order order) {
        if (order instanceof NodeEvent.HostRanks) {
            from.isWatched = true;
            if (!from.isAlive) {
                mailbox.add(new NodeEvent.CoordinatorLost(from.term, false));
            }
        }
    }

    private void hear(CoordinatorOfNode from, NodeEvent.HostRanks host) {
        hostTerm = from.term;
        if (!isOpen && !hasLetGo) {
            hosts = host.hosts();
            epoch = host.epoch();
        }
    }

    private void happen() {
        if (!mailbox.isEmpty()) {
            NodeEvent event = mailbox.remove();
            List<NodeCommand> commands = machine.on(event);
            require(!(event instanceof NodeEvent.CoordinatorLost(int lost, boolean _)) || lost == hostTerm
                    || commands.isEmpty(), event + " of a coordinator whose ranks it does not host has an effect");
            perform(commands);
        }
    }

    private void look() {
        if (looksLater) {
            looksLater = false;
            take(new NodeEvent.LookDue());
        }
    }

    /** A group that was given up ends, or one at work fails. */
    private void endAGroup() {
        List<RankGroup> able = running.stream().filter(group -> hasLetGo || givenUp.contains(group)
                || random.nextInt(4) == 0).toList();
        if (!able.isEmpty()) {
            end(able.get(random.nextInt(able.size())));
        }
    }

    private void end(RankGroup group) {
        running.remove(group);
        mailbox.add(random.nextBoolean()
                ? new NodeEvent.GroupEnded(group)
                : new NodeEvent.GroupFailed(group, new RunEvent.RankFailed(
                        new Incarnation(group.firstRank(), group.epoch(), group.term()), "it broke")));
    }

    private void lose(CoordinatorOfNode leader) {
        if (leader.isAlive && random.nextInt(4) == 0) {
            leader.isAlive = false;
            if (leader.isWatched) {
                mailbox.add(new NodeEvent.CoordinatorLost(leader.term, false));
            }
            coordinators.add(new CoordinatorOfNode(areNamed ? leader.term + 1 : 1, random.nextInt(leader.epoch + 1),
                    leader.hosts));
        }
    }

    private void take(NodeEvent event) {
        perform(machine.on(event));
    }

    private void perform(List<NodeCommand> commands) {
        require(!isStopped || commands.stream().allMatch(NodeCommand.OfLink.class::isInstance),
                commands + " after the end");
        commands.forEach(this::perform);
    }

    private void perform(NodeCommand command) {
        require(isOpen && !hasLetGo || !(command instanceof NodeCommand.OfRun), command + " without a run");
        switch (command) {
            case NodeCommand.Await _ -> isAwaiting = true;
            case NodeCommand.StartAsking _ -> isAsking = true;
            case NodeCommand.StopAsking _ -> {
                isAsking = false;
                isAwaiting = false;
            }
            case NodeCommand.Ask(int heard, var report, boolean _) -> answer(heard, report);
            case NodeCommand.Open _ -> open();
            case NodeCommand.Start(RankGroup group, long _) -> start(group);
            case NodeCommand.GiveUp(RankGroup group, long _) -> {
                require(atWork.remove(group), group + " is given up and not at work");
                givenUp.add(group);
            }
            case NodeCommand.BeginEpoch(int begun, var _, var _) -> {
                require(begun > epoch, "epoch " + begun + " begins");
                epoch = begun;
                epochsBegun++;
            }
            case NodeCommand.Free(RankGroup group) -> free(group);
            case NodeCommand.LookLater _ -> looksLater = true;
            case NodeCommand.End _ -> isOver = true;
            case NodeCommand.LetGo _ -> {
                require(!hasLetGo, "it lets go twice");
                hasLetGo = true;
            }
            case NodeCommand.AwaitEnds _ -> awaitsEnds = true;
            case NodeCommand.Release(Set<RankGroup> left) -> require(left.containsAll(running) && hasLetGo
                    && (left.isEmpty() || awaitsEnds), "memory of " + running + " is freed but that of " + left);
            case NodeCommand.Stop _ -> isStopped = true;
            case NodeCommand.SendCopies(List<Integer> ranks, long _) -> require(new TreeSet<>(ranks).equals(
                    ranksAtWork()), "copies of " + ranks + " are sent");
            case NodeCommand.ForgetSnapshots(List<Integer> ranks, long before) -> require(
                    ranks.stream().noneMatch(rank -> hosts.get(rank).equals(NAME)) && before < stepsDone,
                    "snapshots of " + ranks + " before " + before + " are forgotten");
            case NodeCommand.OfLink _,NodeCommand.OfRun _ -> {
            }
        }
    }

    private void answer(int heard, Optional<NodeReport> report) {
        CoordinatorOfNode leader = coordinators.getLast();
        require(!isStopped && report.isPresent() == isOpen, "it asks with " + report);
        report.ifPresent(told -> {
            assertEquals(epoch, told.epoch(), () -> "seed " + seed);
            assertEquals(hosts, told.hosts(), () -> "seed " + seed);
        });
        if (!leader.isAlive || random.nextInt(3) == 0) {
            return;
        }
        if (heard != leader.term) {
            leader.orders.add(new NodeEvent.Follow());
            return;
        }
        report.ifPresent(told -> leader.epoch = Math.max(leader.epoch, told.epoch()));
        if (!leader.hasHosted && report.isEmpty() && random.nextInt(3) == 0) {
            leader.orders.add(new NodeEvent.RunKernels());
            return;
        }
        leader.orders.add(new NodeEvent.HostRanks(leader.epoch, leader.hosts, Map.of(), "runs/one"));
        if (report.isPresent() || coordinators.size() > 1) { // a coordinator that takes over starts all ranks again
            leader.enter(random, stepsDone, true);
        }
        leader.hasHosted = true;
    }

    private void open() {
        if (random.nextInt(10) == 0) {
            take(new NodeEvent.CannotOpen("it is not there"));
            return;
        }
        isOpen = true;
        take(new NodeEvent.Opened(0, CoordinatorOfNode.GROUPS, Optional.of(_ -> List.of(stepsDone)),
                random.nextBoolean()));
    }

    private void start(RankGroup group) {
        require(group.epoch() == epoch, group + " starts");
        require(group.ranks().stream().noneMatch(ranksAtWork()::contains), group + " has ranks that are at work");
        atWork.add(group);
        if (random.nextInt(10) == 0) {
            mailbox.add(new NodeEvent.GroupEnded(group));
        } else {
            running.add(group);
        }
    }

    private void free(RankGroup group) {
        require(givenUp.contains(group) && !running.contains(group) && !mailbox.contains(
                new NodeEvent.GroupEnded(group)), group + " is freed");
        if (random.nextBoolean() && !mailbox.contains(new NodeEvent.MemoryFreed(group)) && freed.add(group)) {
            mailbox.add(new NodeEvent.MemoryFreed(group));
        }
    }

    private Set<Integer> ranksAtWork() {
        Set<Integer> ranks = new TreeSet<>();
        atWork.forEach(group -> ranks.addAll(group.ranks()));
        return ranks;
    }

    /** The ranks at work are those that the last order places here. */
    private void requireHosted() {
        if (isOpen && !hasLetGo) {
            Set<Integer> here = new TreeSet<>();
            IntStream.range(0, hosts.size()).filter(rank -> hosts.get(rank).equals(NAME)).forEach(here::add);
            require(ranksAtWork().equals(here), "ranks " + ranksAtWork() + " are at work of " + here);
            require(coordinators.getLast().hasHosted || isAsking || isOver || hasOrders(),
                    "it asks nobody for a coordinator");
        }
    }

    private boolean hasOrders() {
        return coordinators.stream().anyMatch(from -> !from.orders.isEmpty()) || !mailbox.isEmpty();
    }

    /** No coordinator is lost any more; all memory of groups that were given up is freed, and the node ends. */
    private void settle() {
        for (int round = 0; round < 1000 && !hasLetGo && (hasOrders() || isAsking && !isOver); round++) {
            deliver();
            happen();
            if (isAsking) {
                take(new NodeEvent.AskDue());
            }
        }
        require(hasLetGo || isOver || !isAsking, "it finds no coordinator");
        requireHosted();
        List.copyOf(running).stream().filter(givenUp::contains).forEach(this::end);
        for (int round = 0; round < 1000 && (looksLater || !mailbox.isEmpty()); round++) {
            happen();
            look();
        }
        require(hasLetGo || freed.containsAll(givenUp), "memory of " + givenUp + " is left");
        take(new NodeEvent.Halt());
        RankGroup[] left = running.toArray(RankGroup[]::new);
        IntStream.range(0, random.nextInt(left.length + 1)).forEach(group -> end(left[group]));
        while (!mailbox.isEmpty()) {
            happen();
        }
        if (!running.isEmpty()) {
            require(!isStopped && awaitsEnds, "it waits for " + running);
            take(new NodeEvent.EndOverdue());
        }
        require(isStopped, "it ends");
    }
}
