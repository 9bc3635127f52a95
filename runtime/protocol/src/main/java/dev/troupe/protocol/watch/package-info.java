/**
 * Watches over a run: stalls, stragglers, the pace of steps. They decide on measured times that their caller brings.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol} and {@code dev.troupe.schedule}.
 */
package dev.troupe.protocol.watch;
