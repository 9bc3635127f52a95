package dev.troupe.protocol.membership;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.protocol.run.CoordinatorFailover;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A cluster of processes that come, end and come back under their old names, and the real {@link MembershipMachine} of each
 * coordinator. With them a run that only counts: a step commits while every rank lives on a process that takes part, and
 * every such process has copies of the last two commits.
 *
 * <p>The reports of the cluster are as bad as the real ones: an end is reported late, but the end of a process that came
 * back under the name of another is reported at once, until the cluster has that process as a member.
 */
final class MembershipWorld implements Surroundings {
    /** The first two have ranks, the others are standbys. */
    static final List<String> NAMES = List.of("a", "b", "c", "d");
    private static final List<String> HOSTS = List.of("a", "b");
    private static final long TICK_NANOS = 1_000_000_000L;
    private static final long REPORT_NANOS = 10 * TICK_NANOS;
    /** The rounds after which all ends that will be reported have been. */
    private static final int LEAST_ROUNDS = 3;
    private static final RunSettings SETTINGS = new RunSettings(2, 0, 1_000_000, _ -> 0.1, 0, LossScale.none(0), 0, 3,
            -1, true, List.of(List.of(0), List.of(1)), 9);

    /** One process of a node. */
    static final class Process {
        final String name;
        /** Whether another process of this name has ended before, while the cluster still reports that end. */
        final boolean isSuccessor;
        boolean isMember;
        /** Whether watchers of processes have seen it come. */
        boolean isSeen;
        boolean isAlive = true;
        /** The coordinator that gave it its ranks. */
        Optional<Coordinator> hostedBy = Optional.empty();
        private int term;
        private int epoch;
        private List<String> hosts = List.of();
        private final List<Commit> commits = new ArrayList<>();

        private Process(String name, boolean isSuccessor) {
            this.name = name;
            this.isSuccessor = isSuccessor;
        }

        private void committed(Commit commit) {
            commits.add(commit);
            if (commits.size() > 2) {
                commits.removeFirst();
            }
        }

        private NodeReport report() {
            List<Long> versions = commits.stream().map(Commit::stepsDone).toList();
            return new NodeReport(epoch, hosts, Map.of(), commits, Map.of(0, versions, 1, versions));
        }
    }

    /** One coordinator, with its knowledge of the run. */
    final class Coordinator {
        final Process host;
        private final int term = ++terms;
        private final long sinceNanos = nowNanos;
        final MembershipMachine<Process> membership;
        private int epoch;
        private String[] hosts = HOSTS.toArray(String[]::new);
        private long stepsDone;

        private Coordinator(Process host) {
            this.host = host;
            this.membership = new MembershipMachine<>(new Roster(Map.of("a", List.of(0), "b", List.of(1), "c",
                    List.of(), "d", List.of()), Map.of(), Duration.ofSeconds(60), ReplicaTable.Buddies.NONE), SETTINGS,
                    term, REPORT_NANOS, MembershipWorld.this, rules);
        }

        private void take(MembershipEvent<Process> event) {
            membership.on(event).forEach(this::carryOut);
        }

        private void carryOut(MembershipCommand<Process> command) {
            switch (command) {
                case MembershipCommand.Refuse<Process>(Process node, String _) -> end(node);
                case MembershipCommand.Watch<Process>(Process node, String name) -> {
                    if (!node.isAlive || node.isSuccessor && !node.isSeen) {
                        ends.add(new MembershipEvent.Ended<>(node, name, false));
                    } else {
                        watched.add(node);
                    }
                }
                case MembershipCommand.WatchAgain<Process>(Process node, String name) -> {
                    if (!node.isAlive) {
                        ends.add(new MembershipEvent.Ended<>(node, name, true));
                    } else {
                        watched.add(node);
                    }
                }
                case MembershipCommand.Begin<Process> _ -> begin();
                case MembershipCommand.TakeOver<Process>(var _, CoordinatorFailover failover) -> takeOver(failover);
                case MembershipCommand.Host<Process>(Process node) -> {
                    if (node.isAlive) {
                        node.hostedBy = Optional.of(this);
                        node.term = term;
                        node.epoch = epoch;
                        node.hosts = List.of(hosts);
                    }
                }
                case MembershipCommand.LoseNode<Process>(String name, String _) -> lose(name);
                case MembershipCommand.Follow<Process>(Process node) -> {
                    node.term = term;
                    ask(node.name);
                }
                case MembershipCommand.RunKernels<Process> _ -> {
                }
                case MembershipCommand.ReportMissing<Process> _ -> {
                }
                case MembershipCommand.Outrun<Process>(String _, int former) -> epoch = Math.max(epoch, former) + 1;
                case MembershipCommand.AddNode<Process> _ -> {
                }
                case MembershipCommand.Recover<Process> _ -> {
                }
                case MembershipCommand.ReportGone<Process> _ -> {
                }
                case MembershipCommand.StopAfterStep<Process> _ -> {
                }
                case MembershipCommand.RefuseRun<Process>(String why) -> outcome = Optional.of(why);
                case MembershipCommand.End<Process>(Optional<String> failure) -> outcome = failure;
            }
        }

        private void begin() {
            if (committed > 1) { // the first step again comes to the same
                throw new AssertionError("a run that has committed " + committed + " steps begins again from step 0");
            }
            Optional<Process> knows = processes.values().stream()
                    .filter(process -> process.isAlive && isUp(process) && process.hostedBy.isPresent()).findFirst();
            if (knows.isPresent() && nowNanos - sinceNanos <= REPORT_NANOS) {
                throw new AssertionError("the run begins again, and node " + knows.get().name + " knows it");
            }
        }

        private void takeOver(CoordinatorFailover failover) {
            epoch = failover.epoch();
            hosts = failover.hosts().toArray(String[]::new);
            stepsDone = failover.commit().stepsDone();
            if (stepsDone + 1 < committed) {
                throw new AssertionError(
                        "a coordinator leads on from step " + stepsDone + " of a run that has committed " + committed);
            }
        }

        /** Its ranks continue if another process takes part. */
        private void lose(String name) {
            Optional<String> other = membership.nodes().keySet().stream().findFirst();
            if (other.isEmpty()) {
                outcome = Optional.of("no node is left");
                return;
            }
            epoch++;
            Arrays.setAll(hosts, rank -> hosts[rank].equals(name) ? other.get() : hosts[rank]);
        }

        private boolean canCommit() {
            return membership.isRunning() && membership.nodes().values().stream().allMatch(node -> node.isAlive)
                    && membership.nodes().keySet().containsAll(List.of(hosts));
        }
    }

    private final MembershipMachine.Rules rules;
    private final Map<String, Process> processes = new TreeMap<>();
    private final Set<String> ended = new TreeSet<>();
    private final List<Process> watched = new ArrayList<>();
    private final List<MembershipEvent.Ended<Process>> ends = new ArrayList<>();
    private Optional<Coordinator> coordinator = Optional.empty();
    private Optional<String> outcome = Optional.empty();
    private OptionalLong checkpoint = OptionalLong.empty();
    private long committed;
    private long nowNanos;
    private int terms;

    MembershipWorld(MembershipMachine.Rules rules) {
        this.rules = rules;
    }

    @Override
    public long nowNanos() {
        return nowNanos;
    }

    @Override
    public Set<String> present() {
        return processes.values().stream().filter(this::isUp).map(process -> process.name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    public OptionalLong newestCheckpoint() {
        return checkpoint;
    }

    @Override
    public long committedSteps() {
        return committed;
    }

    private boolean isUp(Process process) {
        return process.isMember && processes.get(process.name) == process;
    }

    /** Returns the reason why the run has ended; empty while it continues. */
    Optional<String> outcome() {
        return outcome;
    }

    /** Returns the number of committed steps of the run, under whichever coordinator. */
    long committed() {
        return committed;
    }

    Optional<Process> process(String name) {
        return Optional.ofNullable(processes.get(name)).filter(process -> process.isAlive);
    }

    /** Starts a process of a node that has none. */
    void start(String name) {
        if (process(name).isEmpty()) {
            processes.put(name, new Process(name, ended.contains(name)));
        }
    }

    /** The process of a node is a member of the cluster from now on. */
    void bringUp(String name) {
        process(name).ifPresent(process -> process.isMember = true);
    }

    /** Ends the process of a node; with it its coordinator. */
    void kill(String name) {
        process(name).ifPresent(this::end);
    }

    private void end(Process process) {
        process.isAlive = false;
        ended.add(process.name);
        if (coordinator.isPresent() && coordinator.get().host == process) {
            coordinator = Optional.empty();
            watched.clear();
            ends.clear();
        }
    }

    /** The cluster removes a member with an ended process. */
    void remove(String name) {
        Process process = processes.get(name);
        if (process != null && !process.isAlive) {
            process.isMember = false;
        }
    }

    /** A coordinator begins on the first member, if there is none. */
    void lead() {
        if (coordinator.isEmpty()) {
            processes.values().stream().filter(process -> process.isAlive && isUp(process)).findFirst()
                    .ifPresent(process -> coordinator = Optional.of(new Coordinator(process)));
        }
    }

    /** Has a process ask the coordinator to take part, unless it has its ranks. */
    void ask(String name) {
        if (coordinator.isEmpty() || process(name).isEmpty() || hasEnded()) {
            return;
        }
        Process process = process(name).get();
        if (!process.hostedBy.equals(coordinator)) {
            coordinator.get().take(new MembershipEvent.Joined<>(process, name, process == coordinator.get().host, 0,
                    Map.of(), process.term, process.hostedBy.map(_ -> process.report()), WarmUpReport.NOTHING_TO_RUN));
        }
    }

    /** Reports the ends of watched processes that the cluster has removed; then delivers the waiting messages. */
    void tellEnds() {
        List<Process> gone = watched.stream().filter(process -> !process.isAlive && !isUp(process)).toList();
        watched.removeAll(gone);
        gone.forEach(process -> ends.add(new MembershipEvent.Ended<>(process, process.name, false)));
        List<MembershipEvent.Ended<Process>> told = List.copyOf(ends);
        ends.clear();
        told.forEach(end -> coordinator.filter(_ -> !hasEnded()).ifPresent(lead -> lead.take(end)));
    }

    /** Time passes. */
    void tick() {
        nowNanos += TICK_NANOS;
        processes.values().stream().filter(this::isUp).forEach(process -> process.isSeen = true);
        coordinator.filter(_ -> !hasEnded()).ifPresent(lead -> lead.take(new MembershipEvent.Tick<>()));
    }

    /** The run commits a step if it can, and writes a checkpoint every so many. */
    void commit(long checkpointEvery) {
        coordinator.filter(lead -> !hasEnded() && lead.canCommit()).ifPresent(lead -> {
            lead.stepsDone++;
            committed = Math.max(committed, lead.stepsDone);
            Commit commit = new Commit(lead.stepsDone, LossScale.none(lead.stepsDone));
            lead.membership.nodes().values().stream().filter(node -> node.hostedBy.equals(coordinator))
                    .forEach(node -> node.committed(commit));
            if (checkpointEvery > 0 && lead.stepsDone % checkpointEvery == 0) {
                checkpoint = OptionalLong.of(lead.stepsDone);
            }
        });
    }

    boolean isRunning() {
        return coordinator.filter(lead -> lead.membership.isRunning()).isPresent();
    }

    private boolean allTakePart() {
        return coordinator.filter(lead -> lead.membership.isRunning()
                && NAMES.stream().allMatch(name -> lead.membership.nodes().get(name) == processes.get(name)))
                .isPresent();
    }

    private boolean hasEnded() {
        return outcome.isPresent();
    }

    /** Nothing goes wrong any more: pending events happen, and then every living process takes part in a run that moves. */
    void settle() {
        for (int round = 0; round < 100 && !hasEnded() && (round < LEAST_ROUNDS || !allTakePart()); round++) {
            NAMES.forEach(this::remove);
            NAMES.forEach(this::start);
            NAMES.forEach(this::bringUp);
            lead();
            tellEnds();
            NAMES.forEach(this::ask);
            tick();
        }
        if (hasEnded()) {
            return;
        }
        Coordinator lead = coordinator.orElseThrow(() -> new AssertionError("nobody leads"));
        if (!lead.membership.isRunning()) {
            throw new AssertionError("the run neither continues nor ends");
        }
        for (String name : NAMES) {
            if (lead.membership.nodes().get(name) != process(name).orElseThrow()) {
                throw new AssertionError("the process of node " + name + " lives and takes no part");
            }
        }
        long before = lead.stepsDone;
        commit(0);
        if (lead.stepsDone == before) {
            throw new AssertionError("the run commits no step any more");
        }
    }
}
