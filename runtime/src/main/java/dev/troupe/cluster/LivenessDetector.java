package dev.troupe.cluster;

import com.typesafe.config.Config;
import org.apache.pekko.actor.Address;
import org.apache.pekko.cluster.Cluster;
import org.apache.pekko.event.EventStream;
import org.apache.pekko.remote.DefaultFailureDetectorRegistry;
import org.apache.pekko.remote.FailureDetector;
import org.apache.pekko.remote.PhiAccrualFailureDetector;
import scala.Option;

/**
 * Pekko's failure detector for one member, which can be told besides that its process has ended: a member is taken out
 * of the cluster only once it is unreachable, and by its silence alone that takes ten seconds or more. Made by Pekko,
 * by its name in {@code troupe-cluster.conf}. Any thread.
 */
public final class LivenessDetector extends PhiAccrualFailureDetector {
    private volatile boolean hasEnded;

    /** As Pekko makes it. */
    public LivenessDetector(Config config, EventStream events) {
        super(config, events);
    }

    @Override
    public boolean isAvailable() {
        return !hasEnded && super.isAvailable();
    }

    /** Has the detector of a member say that it has ended, until {@link #forget}. */
    static void tellEnded(Cluster cluster, Address member) {
        if (detector(cluster, member).isEmpty()) {
            cluster.failureDetector().heartbeat(member); // which makes one; it has only just joined, or others watch it
        }
        ((LivenessDetector) detector(cluster, member).get()).hasEnded = true;
    }

    private static Option<FailureDetector> detector(Cluster cluster, Address member) {
        return ((DefaultFailureDetectorRegistry<Address>) cluster.failureDetector()).failureDetector(member);
    }

    /** The member is gone: another process may come under its address. */
    static void forget(Cluster cluster, Address member) {
        cluster.failureDetector().remove(member);
    }
}
