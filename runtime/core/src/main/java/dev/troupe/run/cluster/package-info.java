/**
 * Runs over several JVMs: Pekko Cluster for the control plane; for tensors one Aeron media driver per machine, and TCP
 * between machines. The actors are in {@link dev.troupe.run.actor}; ranks do not know the nodes of the others.
 */
package dev.troupe.run.cluster;
