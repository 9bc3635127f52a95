package dev.troupe.run.actor;

import dev.troupe.config.group.GroupKind;
import dev.troupe.engine.provider.LostDeviceException;
import dev.troupe.plan.error.Reason;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.node.NodeCommand;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.node.RankGroup;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.rank.NodeContext;
import dev.troupe.rank.PartWriter;
import dev.troupe.rank.RankResources;
import dev.troupe.rank.WarmUp;
import dev.troupe.rank.snapshot.CopyRoutes;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.run.news.EventLog;
import dev.troupe.transport.NodeMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The run that a node hosts: its groups of ranks until their memory is freed, the copies of their snapshots, their parts of
 * checkpoints. The transport's thread reads and writes tensors, so the transport is closed before a tensor is freed. Thread
 * rule: the node's actor.
 */
final class HostedRun implements NodeRun {
    private static final Logger LOG = LoggerFactory.getLogger(HostedRun.class);

    /** Longer than an action of a stage, shorter than any wait for the end of the actors. */
    static final Duration THREAD_END = Duration.ofSeconds(10);

    /** The members of a group on this node; a member is removed when its memory is freed. */
    private record Group(ActorRef<TensorParallelGroup.Command> actor, List<HostedRank> members) {
    }

    private final ActorContext<NodeActor.Command> context;
    private final NodeSetup setup;
    private final NodeLink link;
    private final NodeContext node;
    private final PartWriter parts = new PartWriter();
    private final Map<RankGroup, Group> groups = new LinkedHashMap<>();
    private Optional<WarmUp> warmUp = Optional.empty();

    HostedRun(ActorContext<NodeActor.Command> context, NodeSetup setup, NodeLink link, NodeContext node) {
        this.context = context;
        this.setup = setup;
        this.link = link;
        this.node = node;
        ActorRef<NodeActor.Command> self = context.getSelf();
        node.recovery().copies().tell((rank, _, stepsDone) -> self.tell(
                new NodeActor.Happened(new NodeEvent.CopyArrived(rank, stepsDone))));
    }

    NodeEvent.Opened opened() {
        return new NodeEvent.Opened(node.start().firstStep(), node.plan().ranks().groups(GroupKind.TENSOR),
                node.recovery().snapshots().map(kept -> rank -> versions(kept, rank)), node.recovery().warmsUp());
    }

    private List<Long> versions(Snapshots kept, int rank) {
        List<Integer> stages = node.plan().stagesOf(rank);
        return kept.versions(rank, stages.getFirst()).stream()
                .filter(steps -> stages.stream().allMatch(stage -> kept.find(rank, stage, steps).isPresent())).toList();
    }

    @Override
    public void perform(NodeCommand.OfRun command) {
        switch (command) {
            case NodeCommand.WarmUp() -> warmUp = Optional.of(WarmUp.start(node, link.position()::log));
            case NodeCommand.EndWarmUp() -> warmUp.ifPresent(WarmUp::end);
            case NodeCommand.Start(RankGroup group, long stepsDone) -> start(group, stepsDone);
            case NodeCommand.GiveUp(RankGroup group, long stepsDone) -> giveUp(group, stepsDone);
            case NodeCommand.Free(RankGroup group) -> free(group);
            case NodeCommand.BreakOffCopies(String lost) ->
                node.recovery().copies().forget(setup.neighbours().indexOf(lost));
            case NodeCommand.BeginEpoch(int epoch, var hosts, var since) -> {
                NodeMap map = setup.neighbours().map(hosts, since);
                node.links().transport().epoch(epoch, map);
                node.links().groups().enter(map);
            }
            case NodeCommand.Route(var buddies) -> route(buddies);
            case NodeCommand.SendCopies(var ranks, long stepsDone) ->
                node.recovery().snapshots().ifPresent(kept -> ranks.forEach(rank -> sendCopies(kept, rank, stepsDone)));
            case NodeCommand.ForgetSnapshots(var ranks, long before) ->
                node.recovery().snapshots().ifPresent(kept -> ranks.forEach(rank -> kept.forget(rank, before)));
            case NodeCommand.WriteParts(CheckpointAttempt attempt, var ranks) -> parts.start(attempt, ranks, node,
                    answer -> link.coordinator().tell(new TrainingCoordinator.CheckpointHappened(answer)));
        }
    }

    private void start(RankGroup group, long stepsDone) {
        List<HostedRank> members = new ArrayList<>();
        for (int rank : group.ranks()) {
            Incarnation incarnation = new Incarnation(rank, group.epoch(), group.term());
            try {
                members.add(HostedRank.open(incarnation, stepsDone, node));
            } catch (Throwable failure) { // an engine may lack its native library
                RunEvent.RankFailed failed = failure(incarnation, failure);
                if (LostDeviceException.isBehind(failure)) {
                    tell(new NodeEvent.DeviceLost(failed.reason()));
                } else {
                    link.perform(new NodeCommand.Report(failed));
                }
            }
        }
        if (members.isEmpty()) {
            tell(new NodeEvent.GroupEnded(group));
            return;
        }
        ActorRef<TensorParallelGroup.Command> actor = context.spawn(
                TensorParallelGroup.create(members, link.coordinator(), context.getSelf(), link.position()),
                "tensor-group-" + group.firstRank() + "-of-epoch-" + group.epoch());
        context.watch(actor);
        groups.put(group, new Group(actor, members));
    }

    private RunEvent.RankFailed failure(Incarnation rank, Throwable failure) {
        link.position().met(failure);
        return new RunEvent.RankFailed(rank, "rank " + rank.rank() + ": " + Reason.of(failure),
                Reason.strike("as it was started", failure));
    }

    private void tell(NodeEvent event) {
        context.getSelf().tell(new NodeActor.Happened(event));
    }

    @Override
    public NodeEvent ended(Terminated signal) {
        RankGroup group = groups.entrySet().stream()
                .filter(hosted -> hosted.getValue().actor.equals(signal.getRef())).findFirst().orElseThrow().getKey();
        return signal instanceof ChildFailed failed
                ? new NodeEvent.GroupFailed(group,
                        failure(groups.get(group).members.getFirst().incarnation(), failed.getCause()))
                : new NodeEvent.GroupEnded(group);
    }

    private void giveUp(RankGroup group, long stepsDone) {
        Optional.ofNullable(groups.get(group)).ifPresent(hosted -> {
            hosted.members.forEach(member -> {
                EventLog.ofRank(member.incarnation(), stepsDone,
                        "is given up; its thread was at " + member.innermostCalls());
                member.retire();
            });
            context.stop(hosted.actor);
        });
    }

    private void free(RankGroup group) {
        groups.computeIfPresent(group, (_, hosted) -> {
            hosted.members.removeIf(member -> member.resources().closeIfEnded());
            return hosted.members.isEmpty() ? null : hosted;
        });
        if (!groups.containsKey(group)) {
            tell(new NodeEvent.MemoryFreed(group));
        }
    }

    private void route(Map<Integer, NodeCommand.Route.Buddy> buddies) {
        Map<Integer, CopyRoutes.Buddy> routes = new TreeMap<>();
        buddies.forEach((rank, buddy) -> routes.put(rank,
                new CopyRoutes.Buddy(setup.neighbours().indexOf(buddy.node()), buddy.receiverId())));
        node.recovery().copies().route(routes);
    }

    private void sendCopies(Snapshots kept, int rank, long stepsDone) {
        node.plan().stagesOf(rank).stream().filter(stage -> kept.find(rank, stage, stepsDone).isPresent())
                .forEach(stage -> node.recovery().copies().kept(rank, stage, stepsDone));
    }

    private Stream<HostedRank> members() {
        return groups.values().stream().flatMap(group -> group.members.stream());
    }

    @Override
    public void letGo() {
        warmUp.ifPresent(WarmUp::end);
        members().forEach(member -> member.resources().outbox().retire()); // tensors that come back remain here
        node.faults().close();
        try {
            node.links().transport().close();
        } finally {
            members().map(HostedRank::resources).forEach(RankResources::letGo);
            groups.values().forEach(group -> context.stop(group.actor));
        }
    }

    @Override
    public void close(Set<RankGroup> running) {
        long deadlineNanos = System.nanoTime() + THREAD_END.toNanos();
        groups.forEach((group, hosted) -> {
            if (running.contains(group)) {
                // The memory is not freed while a thread computes on it; it is lost until the process ends.
                hosted.members.forEach(member -> LOG.warn("rank {} still computes long after it was stopped: {}",
                        member.rank(), member.innermostCalls()));
            } else {
                hosted.members.forEach(member -> member.resources().close(deadlineNanos));
            }
        });
        parts.awaitEnd(deadlineNanos);
    }
}
