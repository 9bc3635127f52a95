/**
 * The nodes of a cluster and their media drivers as processes of this machine, from their start to their end. The machine
 * in {@code dev.troupe.protocol.supervisor} decides when a process starts again.
 *
 * <p>Imports the JDK, {@code dev.troupe.checkpoint}, {@code dev.troupe.cli.options}, {@code dev.troupe.cli.progress},
 * {@code dev.troupe.cli.stop}, {@code dev.troupe.cluster}, {@code dev.troupe.config},
 * {@code dev.troupe.config.cluster}, {@code dev.troupe.plan}, {@code dev.troupe.prepare},
 * {@code dev.troupe.protocol.supervisor}, {@code dev.troupe.transport.driver} and {@code picocli}.
 */
package dev.troupe.cli.launch;
