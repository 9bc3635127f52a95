/**
 * Watches over a run: stalls, stragglers, the pace of steps, spikes of the loss. They decide on measurements that their
 * caller brings.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol}, {@code dev.troupe.protocol.run} and {@code dev.troupe.schedule}.
 */
package dev.troupe.protocol.watch;
