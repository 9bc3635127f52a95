package dev.troupe.membership;

import dev.troupe.machine.Commit;
import dev.troupe.machine.CoordinatorFailover;
import dev.troupe.machine.RunSettings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The membership of a run: which nodes take part, when the run begins, when a coordinator that takes over knows enough to
 * lead it, and whose end is believed. It is the first of the coordinator's machines: the run hears of nodes from here.
 *
 * <pre>
 *   JOINING ---all nodes there, kernels run---> RUNNING ---> OVER
 *      |                                           ^
 *      +--a node reports a run--> TAKING_OVER -----+   (enough nodes have reported)
 * </pre>
 *
 * <p>A coordinator begins every run in JOINING, also one that takes over: whether the run is under way is known from the
 * first {@link dev.troupe.machine.NodeReport}. Where the records of the run tell of steps that no node knows of, the run
 * ends: it does not begin again from its first step.
 *
 * <p>Thread rule: none; one caller at a time.
 *
 * @param <N>
 *            a process of a node; two processes under one name are not equal
 */
public final class MembershipMachine<N> {
    private enum Phase {
        JOINING, TAKING_OVER, RUNNING, OVER
    }

    /** The two rules by which a wrong word of a node's end, or a node that knows too little, does no harm. */
    interface Rules {
        /** The rules of every run. */
        Rules STANDARD = new Rules() {
        };

        /** Whether the end of a process is believed, or looked at again after a moment. */
        default boolean isBelieved(boolean isCertain, boolean isPresent) {
            return isCertain || !isPresent;
        }

        /**
         * Whether a coordinator may lead on from a commit: records of the run that are newer, by more than the step that
         * may be under way, show that others know more.
         */
        default boolean mayLeadFrom(long committedSteps, long recordedSteps) {
            return recordedSteps <= committedSteps + 1;
        }
    }

    private final Roster roster;
    private final RunSettings settings;
    private final Surroundings surroundings;
    private final Rules rules;
    private final JoinBarrier barrier;
    private final RecoveryQuorum quorum;
    private final long reportNanos;
    private final Map<String, N> nodes = new TreeMap<>();
    private final Map<String, Integer> doors = new TreeMap<>();
    private Phase phase = Phase.JOINING;
    // When all nodes were there and none knew of the run that has committed steps; -1 before.
    private long unknownSinceNanos = -1;

    /**
     * @param reportNanos
     *            how long a coordinator that takes over waits for more reports after the first
     */
    public MembershipMachine(Roster roster, RunSettings settings, long reportNanos, Surroundings surroundings) {
        this(roster, settings, reportNanos, surroundings, Rules.STANDARD);
    }

    /** With other rules, for tests that show what each rule prevents. */
    MembershipMachine(Roster roster, RunSettings settings, long reportNanos, Surroundings surroundings, Rules rules) {
        this.rules = rules;
        this.reportNanos = reportNanos;
        this.roster = roster;
        this.settings = settings;
        this.surroundings = surroundings;
        this.barrier = new JoinBarrier(roster, surroundings.nowNanos());
        this.quorum = new RecoveryQuorum(reportNanos);
    }

    /** The nodes that take part, by name. */
    public Map<String, N> nodes() {
        return Collections.unmodifiableMap(nodes);
    }

    /** The doors of the nodes that have joined, by name: see {@link MembershipEvent.Joined}. */
    public Map<String, Integer> doors() {
        return Collections.unmodifiableMap(doors);
    }

    /** Whether this coordinator leads a run that has begun. */
    public boolean isRunning() {
        return phase == Phase.RUNNING;
    }

    /** The time of the longest kernel of any node that has run its kernels, in nanoseconds. */
    public long longestKernelNanos() {
        return barrier.longestKernelNanos();
    }

    /** Takes in one event and returns what is to be done, in order. */
    public List<MembershipCommand<N>> on(MembershipEvent<N> event) {
        List<MembershipCommand<N>> commands = new ArrayList<>();
        switch (event) {
            case MembershipEvent.Joined<N> joined -> join(joined, commands);
            case MembershipEvent.Ended<N> ended -> leave(ended, commands);
            case MembershipEvent.StopAsked<N>(boolean atOnce) -> stop(atOnce, commands);
            case MembershipEvent.CannotBegin<N>(String why) -> refuseRun(why, commands);
            case MembershipEvent.Tick<N> _ -> look(commands);
        }
        return commands;
    }

    private void join(MembershipEvent.Joined<N> joined, List<MembershipCommand<N>> commands) {
        String name = joined.name();
        if (!joined.isLocal() && !surroundings.present().contains(name)) {
            return; // the node asks again once it is a member
        }
        if (joined.node().equals(nodes.get(name))) {
            barrier.warmUp(name, joined.warmUp());
            switch (phase) {
                case RUNNING -> commands.add(new MembershipCommand.Host<>(joined.node())); // the first may be lost
                case JOINING -> beginIfReady(joined.node(), commands);
                case TAKING_OVER, OVER -> {
                }
            }
            return;
        }
        Optional<String> refusal = barrier.join(name, joined.keys());
        if (refusal.isPresent()) {
            commands.add(new MembershipCommand.Refuse<>(joined.node(), refusal.get()));
            return;
        }
        barrier.warmUp(name, joined.warmUp());
        nodes.put(name, joined.node());
        doors.put(name, joined.door());
        commands.add(new MembershipCommand.Watch<>(joined.node(), name));
        if (phase == Phase.RUNNING) {
            host(List.of(joined.node()), List.of(name), commands); // a standby, later than the others
            return;
        }
        joined.report().ifPresent(report -> {
            quorum.hear(name, report, surroundings.nowNanos());
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

    /** The run begins once all nodes are there and have run their kernels. Before that, nothing is written. */
    private void beginIfReady(N joined, List<MembershipCommand<N>> commands) {
        if (!barrier.isReady()) {
            commands.add(new MembershipCommand.RunKernels<>(joined));
        } else if (barrier.refusal().isPresent()) {
            refuseRun(barrier.refusal().get(), commands);
        } else if (!rules.mayLeadFrom(settings.firstStep(), recordedSteps())) {
            unknownSinceNanos = unknownSinceNanos < 0 ? surroundings.nowNanos() : unknownSinceNanos;
        } else {
            phase = Phase.RUNNING;
            commands.add(new MembershipCommand.Begin<>(barrier.warmUpSeconds()));
            host(nodes.values(), nodes.keySet(), commands);
        }
    }

    private long recordedSteps() {
        return Math.max(surroundings.newestCheckpoint().orElse(settings.savedStep()), surroundings.committedSteps());
    }

    private void refuseRun(String why, List<MembershipCommand<N>> commands) {
        phase = Phase.OVER;
        commands.add(new MembershipCommand.RefuseRun<>(why));
    }

    private void host(Collection<N> hosts, Collection<String> names, List<MembershipCommand<N>> commands) {
        hosts.forEach(node -> commands.add(new MembershipCommand.Host<>(node)));
        names.forEach(name -> commands.add(new MembershipCommand.AddNode<>(name)));
    }

    /** The nodes of a run whose coordinator was lost have reported. */
    private void takeOverIfEnough(List<MembershipCommand<N>> commands) {
        if (!quorum.isEnough(surroundings.present(), nodes.keySet(), surroundings.nowNanos())) {
            return;
        }
        RunSettings resumed = settings.savedAt(surroundings.newestCheckpoint().orElse(settings.savedStep()));
        Optional<CoordinatorFailover> failover = CoordinatorFailover
                .of(quorum.told(), new Commit(resumed.firstStep(), resumed.lossScale()))
                .filter(found -> rules.mayLeadFrom(found.commit().stepsDone(), recordedSteps()));
        if (failover.isEmpty()) {
            endWithoutCopies(quorum.told().keySet(), commands);
            return;
        }
        phase = Phase.RUNNING;
        commands.add(new MembershipCommand.TakeOver<>(resumed, failover.get()));
        host(nodes.values(), nodes.keySet(), commands);
        commands.add(new MembershipCommand.Recover<>("the node of the coordinator ended before the run did",
                quorum.told()));
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
        String reason = "node " + name + " ended before the run did; its log says why";
        if (phase == Phase.TAKING_OVER && !quorum.isUnderWay()) {
            phase = Phase.JOINING; // nobody is left who knows of a run
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
        } // who takes over hears it again
    }

    private void look(List<MembershipCommand<N>> commands) {
        if (phase == Phase.TAKING_OVER) {
            takeOverIfEnough(commands);
        } else if (phase == Phase.JOINING) {
            long now = surroundings.nowNanos();
            barrier.overdue(now).ifPresent(why -> end(Optional.of(why), commands));
            if (unknownSinceNanos >= 0 && now - unknownSinceNanos > reportNanos) {
                endWithoutCopies(nodes.keySet(), commands);
            }
        }
    }

    private void endWithoutCopies(Collection<String> names, List<MembershipCommand<N>> commands) {
        end(Optional.of("the node of the coordinator ended, and nodes " + names
                + " have no copies of what its ranks kept last"), commands);
    }

    private void end(Optional<String> failure, List<MembershipCommand<N>> commands) {
        phase = Phase.OVER;
        commands.add(new MembershipCommand.End<>(failure));
    }
}
