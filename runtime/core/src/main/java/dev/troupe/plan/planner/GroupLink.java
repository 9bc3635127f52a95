package dev.troupe.plan.planner;

import dev.troupe.schedule.simulator.Hop;

/**
 * The time of collectives among ranks, each by a ring of equal slices: m - 1 messages of a slice for a reduce-scatter or
 * an all-gather, twice as many for an all-reduce. The slowest link of the group counts.
 *
 * <p>Source: Patarasu and Yuan, Bandwidth optimal all-reduce algorithms, 2009.
 *
 * @param members ranks of the group
 */
record GroupLink(int members, Hop slowest) {
    /** Returns the time until every member has the sum of some bytes. */
    long allReduceNanos(long bytes) {
        return 2 * allGatherNanos(bytes);
    }

    /** Returns the time until every member has all slices, which is also the time of a reduce-scatter. */
    long allGatherNanos(long bytes) {
        return (members - 1) * (slowest.latencyNanos() + slowest.occupancyNanos(Math.ceilDiv(bytes, members)));
    }
}
