package dev.troupe.membership;

import java.util.OptionalLong;
import java.util.Set;

/** What a {@link MembershipMachine} asks of the world around it. Called by the machine's thread. */
public interface Surroundings {
    /** Nanoseconds of a monotonic clock. */
    long nowNanos();

    /** The names of the nodes that are members of the cluster now, whether they have joined the run or not. */
    Set<String> present();

    /** The number of steps behind the newest checkpoint that this run has written, whichever node led it then. */
    OptionalLong newestCheckpoint();

    /** The number of steps that the run has committed as its records tell a coordinator that takes over; else 0. */
    long committedSteps();
}
