package dev.troupe.run.cluster;

import com.typesafe.config.Config;
import org.apache.pekko.actor.Address;
import org.apache.pekko.cluster.Cluster;
import org.apache.pekko.event.EventStream;
import org.apache.pekko.remote.DefaultFailureDetectorRegistry;
import org.apache.pekko.remote.FailureDetector;
import org.apache.pekko.remote.PhiAccrualFailureDetector;
import scala.Option;

/**
 * Pekko's failure detector for one member. In addition to heartbeats it accepts reports that the member's process has ended,
 * or that its machine does not answer. A member is removed from the cluster only once it is unreachable, and by missing
 * heartbeats alone that takes half a minute or more. Pekko creates it by its name in {@code troupe-cluster.conf}. Thread
 * rule: any thread.
 */
public final class LivenessDetector extends PhiAccrualFailureDetector {
    private volatile boolean hasEnded;
    private volatile boolean isSilent;

    public LivenessDetector(Config config, EventStream events) {
        super(config, events);
    }

    @Override
    public boolean isAvailable() {
        return !hasEnded && !isSilent && super.isAvailable();
    }

    /** Reports that a member's process has ended; valid until {@link #forget}. */
    static void reportEnded(Cluster cluster, Address member) {
        of(cluster, member).hasEnded = true;
    }

    /** Reports whether a member's machine does not answer. */
    static void reportSilent(Cluster cluster, Address member, boolean isSilent) {
        of(cluster, member).isSilent = isSilent;
    }

    private static LivenessDetector of(Cluster cluster, Address member) {
        if (detector(cluster, member).isEmpty()) {
            cluster.failureDetector().heartbeat(member); // makes one: the member has just joined, or others watch it
        }
        return (LivenessDetector) detector(cluster, member).get();
    }

    private static Option<FailureDetector> detector(Cluster cluster, Address member) {
        return ((DefaultFailureDetectorRegistry<Address>) cluster.failureDetector()).failureDetector(member);
    }

    /** Forgets a removed member, since another process may join under its address. */
    static void forget(Cluster cluster, Address member) {
        cluster.failureDetector().remove(member);
    }
}
