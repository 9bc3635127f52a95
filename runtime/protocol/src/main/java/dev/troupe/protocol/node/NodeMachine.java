package dev.troupe.protocol.node;

import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.run.RunEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The logic of one node of a run: its request for ranks, its hosted ranks, its copies of snapshots, and its end.
 *
 * <pre> JOINING --host--> OPENING --the run is open--> HOSTING --coordinator lost--> SEEKING |                 |
 * |     ^                         | |                 |                         |     +---------host------------+ |
 * |                         |                               |
 * +-----------------+----------halt-----------+-------------------------------+ | v HALTING --all groups have ended, or
 * their time is up--> RELEASED
 * </pre>
 *
 * <p>A group of ranks that is given up stops affecting others at once, and its successor starts in the same epoch. Its
 * memory is freed only after it has ended. An order to enter an epoch that is not newer is a repetition and has no effect.
 *
 * <p>The node obeys the coordinator with the highest term, from its first order on. A coordinator admits a node, and relies
 * on its report, only after the node has received one of its orders: then no late order of an earlier coordinator can change
 * the reported state.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class NodeMachine {
    private enum Phase {
        JOINING, OPENING, HOSTING, SEEKING, HALTING, RELEASED
    }

    private static final String COORDINATOR_LOST = "the node of the coordinator ended before the run did; see its log";
    private static final Duration MOST_WITHOUT_COORDINATOR = Duration.ofSeconds(60);

    private final String name;
    private final Duration patience;
    private final int stepsPerPass;
    private final NodeView view;
    private Phase phase = Phase.JOINING;
    private HostedGroups groups = new HostedGroups(List.of());
    private Optional<KeptSnapshots> kept = Optional.empty();
    // The highest term that the node has received.
    private int term;
    // The term of the coordinator that gave the node its ranks; 0 for none.
    private int hostTerm;
    private boolean runsKernels;
    private boolean isWarmingUp;
    private boolean isOver;
    private boolean isAbandoned;

    /**
     * @param patience longest wait for the first order to host ranks
     * @param stepsPerPass steps from one commit to the next
     */
    public NodeMachine(String name, Duration patience, int stepsPerPass) {
        this.name = name;
        this.patience = patience;
        this.stepsPerPass = stepsPerPass;
        this.view = new NodeView(name);
    }

    /** Handles one event and returns the commands, in order. */
    public List<NodeCommand> on(NodeEvent event) {
        List<NodeCommand> commands = new ArrayList<>();
        switch (event) {
            case NodeEvent.Ordered(int from, NodeEvent.Order order) -> {
                if (from >= term) {
                    term = from;
                    obey(order, commands);
                }
            }
            case NodeEvent.Refused(String why) -> {
                if (phase == Phase.JOINING || phase == Phase.OPENING) {
                    commands.add(new NodeCommand.Refuse(why));
                }
            }
            case NodeEvent.Begin() -> seek(patience, commands);
            case NodeEvent.AskDue() -> ask(commands);
            case NodeEvent.PatienceOver() -> giveUpSeeking(commands);
            case NodeEvent.OthersStart() -> {
                if (phase == Phase.JOINING) {
                    commands.add(new NodeCommand.Await(patience));
                }
            }
            case NodeEvent.StopWaiting() -> {
                if (phase == Phase.JOINING) {
                    end(0, Optional.empty(), commands);
                }
            }
            case NodeEvent.Opened opened -> begin(opened, commands);
            case NodeEvent.CannotOpen(String why) -> commands.add( // the run continues without the node, or moves its ranks
                    new NodeCommand.Report(new RunEvent.NodeLost(name, "node " + name + ": " + why)));
            case NodeEvent.CopyArrived(int rank, long stepsDone) -> reportCopy(rank, stepsDone, commands);
            case NodeEvent.CoordinatorLost(int lost, boolean wasHere) -> loseCoordinator(lost, wasHere, commands);
            case NodeEvent.GroupEnded(RankGroup group) -> groupEnded(group, commands);
            case NodeEvent.GroupFailed(RankGroup group, RunEvent.RankFailed failure) -> {
                if (groups.isAtWork(group)) {
                    commands.add(new NodeCommand.Report(failure));
                }
                groupEnded(group, commands);
            }
            case NodeEvent.DeviceLost(String why) -> {
                if (isHosting() && !isAbandoned) {
                    isAbandoned = true;
                    commands.add(new NodeCommand.Abandon(why));
                }
            }
            case NodeEvent.MemoryFreed(RankGroup group) -> groups.freed(group);
            case NodeEvent.LookDue() -> freeGivenUp(commands);
            case NodeEvent.Halt() -> halt(commands);
            case NodeEvent.EndOverdue() -> release(commands);
            case NodeEvent.AllEnded() -> {
                groups.allEnded();
                halt(commands);
            }
        }
        return commands;
    }

    private void obey(NodeEvent.Order order, List<NodeCommand> commands) {
        switch (order) {
            case NodeEvent.RunKernels() -> runKernels(commands);
            case NodeEvent.Follow() -> ask(commands);
            case NodeEvent.HostRanks host -> host(host, commands);
            case NodeEvent.EnterEpoch enter -> enterEpoch(enter, commands);
            case NodeEvent.KeepCopies keep -> keepCopies(keep, commands);
            case NodeEvent.Committed committed -> commit(committed, commands);
            case NodeEvent.WriteParts(var attempt, var ranks) -> {
                if (isHosting()) {
                    commands.add(new NodeCommand.WriteParts(attempt, ranks));
                }
            }
            case NodeEvent.RunEnded(long stepsDone, Optional<String> failure) -> end(stepsDone, failure, commands);
        }
    }

    private boolean isHosting() {
        return phase == Phase.HOSTING || phase == Phase.SEEKING;
    }

    private static void seek(Duration longest, List<NodeCommand> commands) {
        commands.add(new NodeCommand.Await(longest));
        commands.add(new NodeCommand.StartAsking());
    }

    private void ask(List<NodeCommand> commands) {
        if (phase == Phase.JOINING || phase == Phase.SEEKING) {
            commands.add(new NodeCommand.Ask(term, report(), runsKernels));
        }
    }

    /** Returns the node's report on the run; empty if it takes no part, or keeps no snapshots. */
    public Optional<NodeReport> report() {
        return kept.map(view::report);
    }

    /** Runs the kernels once; the wait begins anew, since kernels take time. */
    private void runKernels(List<NodeCommand> commands) {
        if (phase != Phase.JOINING) {
            return;
        }
        commands.add(new NodeCommand.Await(patience));
        if (!runsKernels) {
            runsKernels = true;
            ask(commands);
        }
    }

    private void giveUpSeeking(List<NodeCommand> commands) {
        if (phase == Phase.JOINING) {
            fail("node " + name + " found no cluster to join within " + patience.toSeconds()
                    + " seconds: see that the other nodes run, that their hosts and control ports can be reached, and that"
                    + " all certificates, where cluster.tls is set, come from one authority", commands);
        } else if (phase == Phase.SEEKING) {
            fail(COORDINATOR_LOST + ", and no other took over within " + MOST_WITHOUT_COORDINATOR.toSeconds()
                    + " seconds", commands);
        }
    }

    private void fail(String why, List<NodeCommand> commands) {
        if (!isOver) {
            end(0, Optional.of(why), commands);
        }
    }

    private void end(long stepsDone, Optional<String> failure, List<NodeCommand> commands) {
        isOver = true;
        commands.add(new NodeCommand.End(stepsDone, failure));
    }

    /**
     * Opens the run. A node that has opened it keeps its ranks: the order is repeated, or of a coordinator that takes over.
     */
    private void host(NodeEvent.HostRanks host, List<NodeCommand> commands) {
        hostTerm = term;
        commands.add(new NodeCommand.StopAsking());
        switch (phase) {
            case JOINING, OPENING -> {
                phase = Phase.OPENING;
                view.begin(host);
                commands.add(new NodeCommand.Open(host.directory()));
            }
            case HOSTING, SEEKING -> phase = Phase.HOSTING;
            case HALTING, RELEASED -> {
            }
        }
    }

    private void begin(NodeEvent.Opened opened, List<NodeCommand> commands) {
        phase = Phase.HOSTING;
        groups = new HostedGroups(opened.tensorGroups());
        kept = opened.kept();
        commands.add(new NodeCommand.Reach(view.epoch(), opened.firstStep()));
        isWarmingUp = opened.warmsUp() && view.ranksHere().isEmpty();
        if (isWarmingUp) {
            commands.add(new NodeCommand.WarmUp());
        }
        start(view.ranksHere(), opened.firstStep(), commands);
    }

    /**
     * Gives up and starts groups in this order: a given-up group sends no more, then the transport releases its tensors, and
     * then its successor reports that it is ready. A node that has lost ranks to others counts as lost.
     */
    private void enterEpoch(NodeEvent.EnterEpoch enter, List<NodeCommand> commands) {
        if (!isHosting() || enter.epoch() <= view.epoch()) {
            return;
        }
        List<String> lost = view.enter(enter);
        commands.add(new NodeCommand.Reach(enter.epoch(), enter.stepsDone()));
        lost.forEach(node -> commands.add(new NodeCommand.BreakOffCopies(node)));
        groups.giveUp(enter.restarted())
                .forEach(group -> commands.add(new NodeCommand.GiveUp(group, enter.stepsDone())));
        freeGivenUp(commands);
        commands.add(new NodeCommand.BeginEpoch(enter.epoch(), enter.hosts(), enter.since()));
        start(view.ranksHere().stream().filter(enter.restarted()::contains).toList(), enter.stepsDone(), commands);
    }

    private void start(List<Integer> ranks, long stepsDone, List<NodeCommand> commands) {
        if (isWarmingUp && !ranks.isEmpty()) {
            isWarmingUp = false;
            commands.add(new NodeCommand.EndWarmUp()); // the ranks need its memory
        }
        groups.start(ranks, view.epoch(), term).forEach(group -> commands.add(new NodeCommand.Start(group, stepsDone)));
    }

    private void freeGivenUp(List<NodeCommand> commands) {
        if (isHosting() && !groups.areFree()) {
            groups.toFree().forEach(group -> commands.add(new NodeCommand.Free(group)));
            commands.add(new NodeCommand.LookLater());
        }
    }

    /** Sends the snapshots again that were taken before this order, since the new buddy may lack them. */
    private void keepCopies(NodeEvent.KeepCopies keep, List<NodeCommand> commands) {
        if (!isHosting()) {
            return;
        }
        view.note(keep);
        commands.add(new NodeCommand.Route(view.buddies()));
        for (long steps : new long[]{keep.stepsDone(), keep.stepsDone() + stepsPerPass}) {
            commands.add(new NodeCommand.SendCopies(groups.ranksAtWork(), steps));
            for (int rank : view.copiedHere()) { // copies that came before the node was told what to host
                reportCopy(rank, steps, commands);
            }
        }
    }

    /** Notifies the coordinator when the copies of all stages of a rank are here. */
    private void reportCopy(int rank, long stepsDone, List<NodeCommand> commands) {
        if (kept.filter(states -> states.versions(rank).contains(stepsDone)).isPresent()) {
            commands.add(new NodeCommand.Report(new RunEvent.Copied(rank, name, stepsDone)));
        }
    }

    private void commit(NodeEvent.Committed committed, List<NodeCommand> commands) {
        long stepsDone = committed.commit().stepsDone();
        view.note(committed.commit());
        commands.add(new NodeCommand.Reach(view.epoch(), stepsDone));
        List<Integer> unwanted = view.unwanted();
        if (isHosting() && !unwanted.isEmpty()) {
            commands.add(new NodeCommand.ForgetSnapshots(unwanted, stepsDone - stepsPerPass)); // never needed again
        }
    }

    /**
     * Handles the end of a coordinator. In this process it means that all actors end, for a reason that the caller knows. If
     * its node was lost, the run continues under another coordinator, which needs this node's report. The end has no effect
     * unless this coordinator gave the node its ranks: its order to host may arrive after the first order of its successor.
     */
    private void loseCoordinator(int lost, boolean wasHere, List<NodeCommand> commands) {
        if (wasHere) {
            halt(commands);
        } else if (lost != hostTerm || phase == Phase.HALTING || phase == Phase.RELEASED || isOver) {
            return; // another leads, or the node needs no coordinator any more
        } else if (isHosting() && kept.isPresent()) {
            phase = Phase.SEEKING;
            commands.add(new NodeCommand.Log("the node of the coordinator is gone; another is to take over"));
            seek(MOST_WITHOUT_COORDINATOR, commands);
        } else {
            fail(COORDINATOR_LOST, commands);
        }
    }

    private void groupEnded(RankGroup group, List<NodeCommand> commands) {
        groups.ended(group);
        if (phase == Phase.HALTING && groups.running().isEmpty()) {
            release(commands);
        }
    }

    private void halt(List<NodeCommand> commands) {
        if (phase != Phase.HALTING && phase != Phase.RELEASED) {
            phase = Phase.HALTING;
            commands.add(new NodeCommand.LetGo());
            if (!groups.running().isEmpty()) {
                commands.add(new NodeCommand.AwaitEnds());
            }
        }
        if (groups.running().isEmpty()) {
            release(commands);
        }
    }

    private void release(List<NodeCommand> commands) {
        if (phase == Phase.HALTING) {
            phase = Phase.RELEASED;
            commands.add(new NodeCommand.Release(groups.running()));
            commands.add(new NodeCommand.Stop());
        }
    }
}
