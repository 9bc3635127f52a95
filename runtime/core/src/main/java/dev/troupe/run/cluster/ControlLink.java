package dev.troupe.run.cluster;

import java.time.Duration;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.cluster.Member;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.remote.RARP;
import org.apache.pekko.remote.RemoteTransport;
import org.apache.pekko.remote.transport.ThrottlerTransportAdapter;
import org.apache.pekko.remote.transport.ThrottlerTransportAdapter$Direction$Both$;

/**
 * The switch that cuts a node off from the control plane of the others, with Pekko's test transport. No message passes while
 * the link is cut; neither side is notified.
 */
@SuppressWarnings("deprecation") // its commands are of an older transport; this one understands them
final class ControlLink {
    /** The setting of an actor system that allows it to be cut off. */
    static final String SETTING = "pekko.remote.artery.advanced.test-mode";

    private final ActorSystem<?> system;

    ControlLink(ActorSystem<?> system) {
        this.system = system;
    }

    /** Cuts the node off from every other member for a time; returns at once. */
    void cut(Duration length) {
        set(ThrottlerTransportAdapter.Blackhole$.MODULE$);
        system.scheduler().scheduleOnce(length, () -> set(ThrottlerTransportAdapter.Unthrottled$.MODULE$),
                system.executionContext());
    }

    private void set(ThrottlerTransportAdapter.ThrottleMode mode) {
        RemoteTransport transport = ((RARP) RARP.get(system.classicSystem())).provider().transport();
        Address self = Cluster.get(system).selfMember().address();
        for (Member member : Cluster.get(system).state().getMembers()) {
            if (!member.address().equals(self)) {
                transport.managementCommand(new ThrottlerTransportAdapter.SetThrottle(member.address(),
                        ThrottlerTransportAdapter$Direction$Both$.MODULE$, mode));
            }
        }
    }
}
