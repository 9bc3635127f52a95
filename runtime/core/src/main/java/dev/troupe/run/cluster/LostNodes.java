package dev.troupe.run.cluster;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.ClusterEvent;
import org.apache.pekko.cluster.Member;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Subscribe;

/**
 * The nodes that this node cannot reach now. Thread rule: any thread may read; its actor writes.
 *
 * <p>If a cluster is partitioned, the part without a majority stops: its actors end without a reason, and this class
 * supplies it.
 */
final class LostNodes {
    static final String ROLE = "node-";

    private final Set<String> names = new ConcurrentSkipListSet<>();
    /** Whether this node leaves the cluster itself; it then causes the removals that follow. */
    private boolean isLeaving;

    Behavior<ClusterEvent.ClusterDomainEvent> follow() {
        return Behaviors.setup(context -> {
            Cluster cluster = Cluster.get(context.getSystem());
            cluster.subscriptions()
                    .tell(Subscribe.create(context.getSelf().narrow(), ClusterEvent.ReachabilityEvent.class));
            cluster.subscriptions()
                    .tell(Subscribe.create(context.getSelf().narrow(), ClusterEvent.MemberDowned.class));
            cluster.subscriptions()
                    .tell(Subscribe.create(context.getSelf().narrow(), ClusterEvent.MemberRemoved.class));
            return Behaviors.receive(ClusterEvent.ClusterDomainEvent.class)
                    .onMessage(ClusterEvent.UnreachableMember.class, lost -> {
                        names.add(name(lost.member()));
                        return Behaviors.same();
                    }).onMessage(ClusterEvent.ReachableMember.class, found -> {
                        names.remove(name(found.member()));
                        return Behaviors.same();
                    }).onMessage(ClusterEvent.MemberDowned.class, downed -> {
                        isLeaving |= downed.member().uniqueAddress().equals(cluster.selfMember().uniqueAddress());
                        return Behaviors.same();
                    }).onMessage(ClusterEvent.MemberRemoved.class, removed -> {
                        if (!isLeaving) { // this part of the cluster continues without the member
                            names.remove(name(removed.member()));
                        }
                        return Behaviors.same();
                    }).build();
        });
    }

    /** Returns the names of the nodes that are members of the cluster and up. */
    static Set<String> present(ActorSystem<?> system) {
        Set<String> present = new TreeSet<>();
        Cluster.get(system).state().getMembers().forEach(member -> {
            if (member.status().equals(MemberStatus.up())) {
                present.add(name(member));
            }
        });
        return present;
    }

    static String name(Member member) {
        return member.getRoles().stream().filter(role -> role.startsWith(ROLE))
                .map(role -> role.substring(ROLE.length())).findFirst().orElseGet(member::toString);
    }

    /** Returns a sentence with the reason why the actors of a node ended. */
    String whyEnded(String self) {
        Set<String> lost = new TreeSet<>(names);
        return lost.isEmpty()
                ? "the actors of node " + self + " ended before the run did; see the log"
                : "node " + self + " lost " + String.join(", ", lost)
                        + ", and what is left is no majority of the cluster"
                        + " (of two halves, the one with the lowest address), so it stopped; if the others continue"
                        + " the run it rejoins with --rejoin, which launch does by itself";
    }
}
