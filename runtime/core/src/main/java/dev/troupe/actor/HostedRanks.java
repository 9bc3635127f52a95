package dev.troupe.actor;

import dev.troupe.config.group.GroupKind;
import dev.troupe.observe.EventLog;
import dev.troupe.prepare.Reason;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.rank.NodeContext;
import dev.troupe.rank.RankResources;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ranks on a node by their tensor-parallel groups, from their start until their memory is free. Belongs to the node's
 * actor.
 */
final class HostedRanks {
    private static final Logger LOG = LoggerFactory.getLogger(HostedRanks.class);

    /** The members of a group on this node; a member whose memory is free is no longer in the list. */
    private record Group(ActorRef<TensorParallelGroup.Command> actor, List<HostedRank> members) {
    }

    private final ActorContext<NodeActor.Command> context;
    private final NodeContext node;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    /** At work, by the first rank of the group, which may be on another node. */
    private final Map<Integer, Group> groups = new TreeMap<>();
    private final List<Group> retired = new ArrayList<>();
    /** The actors of groups at work and of retired ones that have not ended. */
    private final Set<ActorRef<?>> alive = new HashSet<>();

    HostedRanks(ActorContext<NodeActor.Command> context, NodeContext node,
            ActorRef<TrainingCoordinator.Command> coordinator) {
        this.context = context;
        this.node = node;
        this.coordinator = coordinator;
    }

    /** Starts ranks in an epoch with the weights after so many steps. */
    void start(List<Integer> ranks, int epoch, long stepsDone) {
        Map<Integer, List<HostedRank>> members = new TreeMap<>();
        for (int rank : ranks) {
            Incarnation incarnation = new Incarnation(rank, epoch);
            try {
                members.computeIfAbsent(node.plan().ranks().group(GroupKind.TENSOR, rank).getFirst(),
                        _ -> new ArrayList<>()).add(HostedRank.open(incarnation, stepsDone, node));
            } catch (RuntimeException | LinkageError failure) { // an engine may lack its native library
                tellFailed(incarnation, failure);
            }
        }
        members.values().removeIf(List::isEmpty);
        members.forEach((first, group) -> {
            ActorRef<TensorParallelGroup.Command> actor = context.spawn(TensorParallelGroup.create(group, coordinator),
                    "tensor-group-" + first + "-of-epoch-" + epoch);
            context.watch(actor);
            alive.add(actor);
            groups.put(first, new Group(actor, group));
        });
    }

    private void tellFailed(Incarnation rank, Throwable failure) {
        coordinator.tell(new TrainingCoordinator.Happened(new RunEvent.RankFailed(rank,
                "rank " + rank.rank() + ": " + Reason.of(failure), Reason.strike("as it was started", failure))));
    }

    /** The ranks at work. */
    List<RankResources> atWork() {
        return groups.values().stream().flatMap(group -> group.members.stream()).map(HostedRank::resources).toList();
    }

    /** Gives up the groups of these ranks: what they still do has no effect from now on. */
    void retire(Collection<Integer> ranks, long stepsDone) {
        groups.values().removeIf(group -> {
            boolean ends = group.members.stream().anyMatch(member -> ranks.contains(member.rank()));
            if (ends) {
                group.members.forEach(member -> {
                    EventLog.ofRank(member.incarnation(), stepsDone,
                            "is given up; its thread stood at " + member.whereItStands());
                    member.retire();
                });
                context.stop(group.actor);
                retired.add(group);
            }
            return ends;
        });
    }

    /** Frees the memory of retired ranks, as far as nothing uses it any more; whether all is free. */
    boolean freeRetired() {
        retired.removeIf(group -> {
            if (!alive.contains(group.actor)) {
                group.members.removeIf(member -> member.resources().closeIfEnded());
            }
            return group.members.isEmpty();
        });
        return retired.isEmpty();
    }

    /** The actor of a group has ended, and with it all actors of its ranks. */
    void ended(ActorRef<?> group) {
        alive.remove(group);
    }

    /** The actor of a group has failed. */
    void failed(ActorRef<?> group, Throwable cause) {
        ended(group);
        groups.values().stream().filter(at -> at.actor.equals(group))
                .forEach(at -> tellFailed(at.members.getFirst().incarnation(), cause));
    }

    /** Hands nothing over to the transport any more. */
    void handOverNothing() {
        atWork().forEach(member -> member.outbox().retire());
    }

    /** Has all groups end: no rank waits for another. */
    void stop() {
        atWork().forEach(RankResources::letGo);
        groups.values().forEach(group -> context.stop(group.actor));
    }

    boolean haveEnded() {
        return alive.isEmpty();
    }

    /** All actors have ended, which the node's actor hears by its own end. */
    void allEnded() {
        alive.clear();
    }

    /** Once the transport is closed: frees all memory but that of ranks whose actors have not ended. */
    void close(long deadlineNanos) {
        for (Group group : Stream.concat(groups.values().stream(), retired.stream()).toList()) {
            if (alive.contains(group.actor)) {
                // Memory a thread still computes on must not be freed under it; it goes with the process.
                group.members.forEach(member -> LOG.warn("rank {} still computes long after it was told to stop: {}",
                        member.rank(), member.whereItStands()));
            } else {
                group.members.forEach(member -> member.resources().close(deadlineNanos));
            }
        }
    }
}
