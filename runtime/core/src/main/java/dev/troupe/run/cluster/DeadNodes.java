package dev.troupe.run.cluster;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.run.cluster.liveness.End;
import dev.troupe.run.cluster.liveness.LivenessConnections;
import dev.troupe.run.cluster.liveness.Peer;
import dev.troupe.run.setup.RunPosition;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.apache.pekko.cluster.ClusterEvent;
import org.apache.pekko.cluster.Member;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Down;
import org.apache.pekko.cluster.typed.Subscribe;

/**
 * The actor that removes members from the cluster: those with a process that has ended, and those that are not in the
 * cluster file. It has a connection to every member. No agreement is needed: every node that notices an end does the same,
 * and the remaining nodes continue, even one of two.
 */
final class DeadNodes extends AbstractBehavior<DeadNodes.Command> {
    sealed interface Command {
    }

    private record Changed(ClusterEvent.MemberEvent event) implements Command {
    }

    private record Ended(Peer peer, End end, String seen) implements Command {
    }

    private record Silent(Peer peer, boolean isSilent) implements Command {
    }

    private record Overdue(Ended ended) implements Command {
    }

    private record Unlisted(Member member) implements Command {
    }

    /**
     * Nodes end a finished run at slightly different times, and the last messages of the first ones may still be in flight.
     */
    private static final Duration PARTING = Duration.ofSeconds(1);

    /** Time for the coordinator's refusal to reach a node that is not in the cluster file. */
    private static final Duration REFUSAL = Duration.ofSeconds(3);

    private final TimerScheduler<Command> timers;
    private final ClusterSpec file;
    private final LivenessConnections connections;
    private final RunPosition position;
    private final Cluster cluster;
    /** Processes that have ended, and must not remain members. */
    private final Set<Peer> ended = new HashSet<>();

    private DeadNodes(ActorContext<Command> context, TimerScheduler<Command> timers, ClusterSpec file,
            LivenessConnections connections, RunPosition position) {
        super(context);
        this.file = file;
        this.timers = timers;
        this.connections = connections;
        this.position = position;
        this.cluster = Cluster.get(context.getSystem());
        connections.begin(cluster.selfMember().uniqueAddress().longUid(),
                new LivenessConnections.Listener() {
                    @Override
                    public void onEnd(Peer peer, End end, String seen) {
                        context.getSelf().tell(new Ended(peer, end, seen));
                    }

                    @Override
                    public void onSilence(Peer peer, boolean isSilent) {
                        context.getSelf().tell(new Silent(peer, isSilent));
                    }
                });
        cluster.subscriptions().tell(Subscribe.create(
                context.messageAdapter(ClusterEvent.MemberEvent.class, Changed::new), ClusterEvent.MemberEvent.class));
    }

    /** Follows the cluster's member events, and the connections' events of their processes. */
    static Behavior<Command> follow(ClusterSpec file, LivenessConnections connections, RunPosition position) {
        return Behaviors.setup(context -> Behaviors
                .withTimers(timers -> new DeadNodes(context, timers, file, connections, position)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(Changed.class, this::onChanged).onMessage(Ended.class, this::onEnded)
                .onMessage(Silent.class, this::onSilent)
                .onMessage(Overdue.class, overdue -> onOverdue(overdue.ended()))
                .onMessage(Unlisted.class, unlisted -> onUnlisted(unlisted.member())).build();
    }

    private Behavior<Command> onChanged(Changed changed) {
        Member member = changed.event().member();
        Peer peer = peer(member);
        if (changed.event() instanceof ClusterEvent.MemberRemoved) {
            connections.forget(peer);
            if (ended.remove(peer)) {
                LivenessDetector.forget(classic(), member.address());
            }
        } else if (!isListed(member)) {
            timers.startSingleTimer(member.uniqueAddress(), new Unlisted(member), REFUSAL);
        } else if (ended.contains(peer)) { // its end arrived before the news that it had joined
            down(member);
        } else if (changed.event() instanceof ClusterEvent.MemberJoined
                || changed.event() instanceof ClusterEvent.MemberUp) {
            connections.reach(peer);
        }
        return this;
    }

    private Behavior<Command> onEnded(Ended now) {
        if (now.end() == End.IN_ORDER) {
            timers.startSingleTimer(now.peer(), new Overdue(now), PARTING);
            return this;
        }
        return onOverdue(now);
    }

    /**
     * Reports silence to the failure detector: the resolver of partitions decides, unless the machine answers again soon.
     */
    private Behavior<Command> onSilent(Silent now) {
        position.log("node " + now.peer().node() + (now.isSilent()
                ? " is unreachable: its machine does not answer"
                : " is reachable again"));
        cluster.state().getMembers().forEach(member -> {
            if (peer(member).equals(now.peer())) {
                LivenessDetector.reportSilent(classic(), member.address(), now.isSilent());
            }
        });
        return this;
    }

    private Behavior<Command> onOverdue(Ended now) {
        position.log("node " + now.peer().node() + " has ended: " + now.seen());
        ended.add(now.peer());
        cluster.state().getMembers().forEach(member -> {
            if (peer(member).equals(now.peer())) {
                down(member);
            }
        });
        return this;
    }

    private boolean isListed(Member member) {
        String address = member.address().hostPort().replaceAll("[\\[\\]]", ""); // of IPv6
        return file.nodes().stream().anyMatch(node -> node.name().equals(LostNodes.name(member))
                && address.endsWith("@" + node.host() + ":" + node.controlPort()));
    }

    private Behavior<Command> onUnlisted(Member member) {
        if (StreamSupport.stream(cluster.state().getMembers().spliterator(), false).anyMatch(member::equals)) {
            position.log(member.address() + " is no node of cluster.nodes, and is refused");
            down(member);
        }
        return this;
    }

    private void down(Member member) {
        LivenessDetector.reportEnded(classic(), member.address());
        if (member.status() != MemberStatus.down()) {
            cluster.manager().tell(new Down(member.address()));
        }
    }

    private org.apache.pekko.cluster.Cluster classic() {
        return org.apache.pekko.cluster.Cluster.get(getContext().getSystem());
    }

    private static Peer peer(Member member) {
        return new Peer(LostNodes.name(member), member.uniqueAddress().longUid());
    }
}
