/**
 * The nodes of a cluster as processes of this machine: their start, their end, and how often one starts again.
 *
 * <p>Imports the JDK, {@code dev.troupe.checkpoint}, {@code dev.troupe.cli.options}, {@code dev.troupe.cli.progress},
 * {@code dev.troupe.cli.stop}, {@code dev.troupe.cluster}, {@code dev.troupe.config},
 * {@code dev.troupe.config.cluster}, {@code dev.troupe.plan}, {@code dev.troupe.prepare},
 * {@code dev.troupe.protocol.supervisor}, {@code dev.troupe.transport.aeron} and {@code picocli}.
 */
package dev.troupe.cli.launch;
