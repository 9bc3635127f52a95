/**
 * Runs over several JVMs: Pekko Cluster for what decides, one Aeron media driver a machine for what travels. The actors are
 * those of {@link dev.troupe.actor}; ranks do not know where the others live.
 */
package dev.troupe.cluster;
