package dev.troupe.protocol.membership;

import java.util.OptionalLong;
import java.util.Set;

/** The facts that a {@link MembershipMachine} asks for. Called by the machine's thread. */
public interface Surroundings {
    /** Returns the nanoseconds of a monotonic clock. */
    long nowNanos();

    /** Returns the names of the cluster's present members, whether they have joined the run or not. */
    Set<String> present();

    /** Returns the steps of the newest checkpoint that this run has written, under any coordinator. */
    OptionalLong newestCheckpoint();

    /** Returns the committed steps in the run's records for a coordinator that takes over; else 0. */
    long committedSteps();
}
