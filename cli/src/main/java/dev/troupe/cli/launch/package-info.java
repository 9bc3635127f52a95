/**
 * The nodes of a cluster and their media drivers as processes of this machine, from their start to their end. The machine
 * in {@code dev.troupe.protocol.supervisor} decides when a process starts again.
 */
package dev.troupe.cli.launch;
