package dev.troupe.protocol.membership;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.run.CoordinatorFailover;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The membership of a run: the nodes that take part, the begin of the run, its takeover by another coordinator, and the ends
 * of nodes.
 *
 * <pre> JOINING ---all nodes there, kernels run---> RUNNING ---> OVER |                                           ^ +--a
 * node reports a run--> TAKING_OVER -----+   (enough nodes have reported)
 * </pre>
 *
 * <p>Every coordinator begins in JOINING. The first {@link dev.troupe.protocol.NodeReport} shows that the run has begun
 * under another, and starts the takeover. If the run's records have steps that no node knows, the run ends; it does not
 * restart from its first step. A node takes part once it obeys no earlier coordinator: until then a late order of an earlier
 * one could change the state that the node has reported.
 *
 * <p>Thread rule: none; one caller at a time.
 *
 * @param <N> the identity of a node's process; two processes of one name are not equal
 */
public final class MembershipMachine<N> {
    private enum Phase {
        JOINING, TAKING_OVER, RUNNING, OVER
    }

    /** The rules that make a wrong report of a node's end, or an uninformed node, harmless. */
    interface Rules {
        Rules STANDARD = new Rules() {
        };

        /** Returns whether the report of a process's end is believed; if not, it is checked again after a moment. */
        default boolean isBelieved(boolean isCertain, boolean isPresent) {
            return isCertain || !isPresent;
        }

        /**
         * Returns whether a coordinator may lead the run from a commit. It may not if the run's records are newer by more
         * than the unfinished pass: then other nodes know more.
         */
        default boolean mayLeadFrom(long committedSteps, long recordedSteps, int stepsPerPass) {
            return recordedSteps <= committedSteps + stepsPerPass;
        }

        /**
         * Returns whether a coordinator may begin the run; a later one waits until all present nodes have asked to join.
         */
        default boolean mayBegin(boolean isFirst, boolean haveAllAsked) {
            return isFirst || haveAllAsked;
        }
    }

    private static final int FIRST_TERM = 1;

    private final Roster roster;
    private final RunSettings settings;
    private final int term;
    private final Surroundings surroundings;
    private final Rules rules;
    private final JoinBarrier barrier;
    private final RecoveryQuorum quorum;
    private final long reportNanos;
    private final Map<String, N> nodes = new TreeMap<>();
    private final Map<String, Integer> receiverIds = new TreeMap<>();
    private Phase phase = Phase.JOINING;
    // The time since which all nodes have joined without knowing the committed steps of the run's records; -1 if they do.
    private long unknownSinceNanos = -1;
    // The time since which the run waits only for nodes that may know it; -1 before.
    private long readySinceNanos = -1;
    private long leadsFrom;

    /**
     * @param term the term of this coordinator, above 0 and above all earlier terms of the run
     * @param reportNanos longest wait of a coordinator that takes over for more reports after the first
     */
    public MembershipMachine(Roster roster, RunSettings settings, int term, long reportNanos,
            Surroundings surroundings) {
        this(roster, settings, term, reportNanos, surroundings, Rules.STANDARD);
    }

    /** Creates a machine with other rules, for tests that show the effect of each rule. */
    MembershipMachine(Roster roster, RunSettings settings, int term, long reportNanos, Surroundings surroundings,
            Rules rules) {
        this.term = term;
        this.rules = rules;
        this.reportNanos = reportNanos;
        this.roster = roster;
        this.settings = settings;
        this.leadsFrom = settings.firstStep();
        this.surroundings = surroundings;
        this.barrier = new JoinBarrier(roster, surroundings.nowNanos());
        this.quorum = new RecoveryQuorum(reportNanos);
    }

    /** Returns the nodes that take part, by name. */
    public Map<String, N> nodes() {
        return Collections.unmodifiableMap(nodes);
    }

    /** Returns the numbers of the streams on which nodes receive copies, by name; see {@link MembershipEvent.Joined}. */
    public Map<String, Integer> receiverIds() {
        return Collections.unmodifiableMap(receiverIds);
    }

    /** Returns whether this coordinator leads a run that has begun. */
    public boolean isRunning() {
        return phase == Phase.RUNNING;
    }

    /** Returns the time of the longest kernel of any node that has run its kernels, in nanoseconds. */
    public long longestKernelNanos() {
        return barrier.longestKernelNanos();
    }

    /** Handles one event and returns the commands, in order. */
    public List<MembershipCommand<N>> on(MembershipEvent<N> event) {
        List<MembershipCommand<N>> commands = new ArrayList<>();
        switch (event) {
            case MembershipEvent.Joined<N> joined -> join(joined, commands);
            case MembershipEvent.Ended<N> ended -> leave(ended, commands);
            case MembershipEvent.StopAsked<N>(boolean atOnce) -> stop(atOnce, commands);
            case MembershipEvent.CannotBegin<N>(String why) -> refuseRun(why, commands);
            case MembershipEvent.OthersStart<N> _ -> barrier.othersStart(surroundings.nowNanos());
            case MembershipEvent.Tick<N> _ -> look(commands);
        }
        return commands;
    }

    private void join(MembershipEvent.Joined<N> joined, List<MembershipCommand<N>> commands) {
        String name = joined.name();
        if (!joined.isLocal() && !surroundings.present().contains(name)) {
            return; // the node asks again once it is a member
        }
        if (phase == Phase.OVER) {
            return;
        }
        boolean isKnown = joined.node().equals(nodes.get(name));
        Optional<String> refusal = isKnown ? Optional.empty() : barrier.refusal(name, joined.keys());
        if (refusal.isPresent()) {
            commands.add(new MembershipCommand.Refuse<>(joined.node(), refusal.get()));
            return;
        }
        if (joined.term() != term) {
            commands.add(new MembershipCommand.Follow<>(joined.node()));
            return;
        }
        barrier.warmUp(name, joined.warmUp());
        if (isKnown) {
            askedAgain(joined.node(), commands);
            return;
        }
        barrier.join(name, joined.keys());
        nodes.put(name, joined.node());
        receiverIds.put(name, joined.receiverId());
        commands.add(new MembershipCommand.Watch<>(joined.node(), name));
        if (phase == Phase.RUNNING) { // a standby, or later than the others
            commands.add(new MembershipCommand.Host<>(joined.node()));
            joined.report().ifPresent(report -> commands.add(new MembershipCommand.Outrun<>(name, report.epoch())));
            commands.add(new MembershipCommand.AddNode<>(name,
                    joined.report().map(report -> report.versionsSince(leadsFrom)).orElse(Map.of())));
            return;
        }
        joined.report().ifPresent(report -> {
            quorum.add(name, report, surroundings.nowNanos());
            phase = Phase.TAKING_OVER;
        });
        if (phase == Phase.TAKING_OVER) {
            takeOverIfEnough(commands);
            return;
        }
        if (!barrier.isComplete()) {
            commands.add(new MembershipCommand.ReportMissing<>(barrier.missing()));
        }
        beginIfReady(joined.node(), commands);
    }

    private void askedAgain(N node, List<MembershipCommand<N>> commands) {
        switch (phase) {
            case RUNNING -> commands.add(new MembershipCommand.Host<>(node)); // the first answer may be lost
            case JOINING -> beginIfReady(node, commands);
            case TAKING_OVER, OVER -> {
            }
        }
    }

    /** Begins the run once all nodes have joined and run their kernels. No file is written before that. */
    private void beginIfReady(N joined, List<MembershipCommand<N>> commands) {
        if (barrier.isReady()) {
            beginIfUnknown(commands);
        } else {
            commands.add(new MembershipCommand.RunKernels<>(joined));
        }
    }

    /**
     * Begins the run unless it has begun under an earlier coordinator. The records do not show a run without a committed
     * step, so each present node has time to report such a run.
     */
    private void beginIfUnknown(List<MembershipCommand<N>> commands) {
        long now = surroundings.nowNanos();
        if (barrier.refusal().isPresent()) {
            refuseRun(barrier.refusal().get(), commands);
        } else if (!rules.mayLeadFrom(settings.firstStep(), recordedSteps(), settings.stepsPerPass())) {
            unknownSinceNanos = unknownSinceNanos < 0 ? now : unknownSinceNanos;
        } else if (awaitsReports(now)) {
            return;
        } else {
            phase = Phase.RUNNING;
            commands.add(new MembershipCommand.Begin<>(barrier.warmUpSeconds()));
            host(Map.of(), commands);
        }
    }

    private boolean awaitsReports(long now) {
        readySinceNanos = readySinceNanos < 0 ? now : readySinceNanos;
        return !rules.mayBegin(term == FIRST_TERM, nodes.keySet().containsAll(surroundings.present()))
                && now - readySinceNanos <= reportNanos;
    }

    private long recordedSteps() {
        return Math.max(surroundings.newestCheckpoint().orElse(settings.savedStep()), surroundings.committedSteps());
    }

    private void refuseRun(String why, List<MembershipCommand<N>> commands) {
        phase = Phase.OVER;
        commands.add(new MembershipCommand.RefuseRun<>(why));
    }

    private void host(Map<String, Map<Integer, List<Long>>> versions, List<MembershipCommand<N>> commands) {
        nodes.values().forEach(node -> commands.add(new MembershipCommand.Host<>(node)));
        nodes.keySet().forEach(name -> commands
                .add(new MembershipCommand.AddNode<>(name, versions.getOrDefault(name, Map.of()))));
    }

    /** Takes the run over once its nodes have reported. */
    private void takeOverIfEnough(List<MembershipCommand<N>> commands) {
        long now = surroundings.nowNanos();
        if (!quorum.isEnough(surroundings.present(), nodes.keySet(), now)) {
            return;
        }
        RunSettings resumed = settings.savedAt(surroundings.newestCheckpoint().orElse(settings.savedStep()));
        Optional<CoordinatorFailover> failover = CoordinatorFailover
                .of(quorum.reports(), new Commit(resumed.firstStep(), resumed.lossScale()), resumed.stepsPerPass())
                .filter(found -> rules.mayLeadFrom(found.commit().stepsDone(), recordedSteps(),
                        resumed.stepsPerPass()));
        if (!quorum.mayDecide(failover.map(CoordinatorFailover::commit), surroundings.present(), nodes.keySet(), now)) {
            return;
        }
        if (failover.isEmpty()) {
            endWithoutCopies(quorum.reports().keySet(), commands);
            return;
        }
        phase = Phase.RUNNING;
        leadsFrom = failover.get().commit().stepsDone();
        commands.add(new MembershipCommand.TakeOver<>(resumed, failover.get()));
        host(quorum.versions(leadsFrom, surroundings.present(), nodes.keySet()), commands);
        commands.add(new MembershipCommand.Recover<>("the node of the coordinator ended before the run did"));
    }

    private void leave(MembershipEvent.Ended<N> ended, List<MembershipCommand<N>> commands) {
        String name = ended.name();
        if (!rules.isBelieved(ended.isCertain(), surroundings.present().contains(name))) {
            commands.add(new MembershipCommand.WatchAgain<>(ended.node(), name));
            return;
        }
        nodes.remove(name);
        barrier.leave(name);
        quorum.leave(name);
        commands.add(new MembershipCommand.ReportGone<>(name));
        String reason = "node " + name + " ended before the run did; see its log";
        if (phase == Phase.TAKING_OVER && !quorum.isInProgress()) {
            phase = Phase.JOINING; // no node is left that knows of a run
            readySinceNanos = -1;
        }
        switch (phase) {
            case RUNNING -> commands.add(new MembershipCommand.LoseNode<>(name, reason));
            case JOINING -> {
                if (!roster.ranks().get(name).isEmpty()) {
                    end(Optional.of(reason), commands);
                }
            }
            case TAKING_OVER, OVER -> {
            }
        }
    }

    private void stop(boolean atOnce, List<MembershipCommand<N>> commands) {
        if (atOnce || phase == Phase.JOINING) {
            end(Optional.empty(), commands);
        } else if (phase == Phase.RUNNING) {
            commands.add(new MembershipCommand.StopAfterStep<>());
        } // while it takes over: the request is repeated
    }

    private void look(List<MembershipCommand<N>> commands) {
        if (phase == Phase.TAKING_OVER) {
            takeOverIfEnough(commands);
        } else if (phase == Phase.JOINING) {
            long now = surroundings.nowNanos();
            barrier.overdue(now).ifPresent(why -> end(Optional.of(why), commands));
            if (unknownSinceNanos >= 0 && now - unknownSinceNanos > reportNanos) {
                endWithoutCopies(nodes.keySet(), commands);
            } else if (phase == Phase.JOINING && barrier.isReady()) {
                beginIfUnknown(commands);
            }
        }
    }

    private void endWithoutCopies(Collection<String> names, List<MembershipCommand<N>> commands) {
        end(Optional.of("the node of the coordinator ended, and nodes " + names
                + " have no copies of the last snapshots of its ranks"), commands);
    }

    private void end(Optional<String> failure, List<MembershipCommand<N>> commands) {
        phase = Phase.OVER;
        commands.add(new MembershipCommand.End<>(failure));
    }
}
