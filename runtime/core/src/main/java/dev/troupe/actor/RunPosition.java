package dev.troupe.actor;

import dev.troupe.observe.EventLog;
import org.apache.pekko.actor.AbstractExtensionId;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.Extension;
import org.apache.pekko.actor.typed.ActorSystem;

/** How far the run is by what a node was told of it: for the lines that the node writes. Any thread may read and write. */
public final class RunPosition implements Extension {
    private static final Id ID = new Id();

    private volatile int epoch;
    private volatile long stepsDone;

    private static final class Id extends AbstractExtensionId<RunPosition> {
        @Override
        public RunPosition createExtension(ExtendedActorSystem system) {
            return new RunPosition();
        }
    }

    /** That of the node whose actors these are. */
    public static RunPosition of(ActorSystem<?> system) {
        return ID.get(system.classicSystem());
    }

    /** The epoch that the node is in. */
    public int epoch() {
        return epoch;
    }

    /** The steps that were committed, as far as the node knows. */
    public long stepsDone() {
        return stepsDone;
    }

    /** Something happened to the node. */
    public void log(String event) {
        EventLog.ofRun(epoch, stepsDone, event);
    }

    void reach(int newEpoch, long steps) {
        epoch = newEpoch;
        stepsDone = steps;
    }
}
