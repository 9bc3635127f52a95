package dev.troupe.protocol.membership;

import java.util.OptionalLong;
import java.util.Set;

/**
 * The environment of a {@link MembershipMachine}: a clock, the cluster's members, and the run's records. Called by the
 * machine's thread.
 */
public interface Surroundings {
    /** Returns the nanoseconds of a monotonic clock. */
    long nowNanos();

    /** Returns the names of the cluster's present members, whether they have joined the run or not. */
    Set<String> present();

    /** Returns the steps done of the newest checkpoint of this run, written under any coordinator. */
    OptionalLong newestCheckpoint();

    /** Returns the committed steps in the run's records, for a coordinator that takes over; 0 for the first. */
    long committedSteps();
}
