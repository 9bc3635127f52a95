/**
 * The logic of checkpoints: when one is due, and a pure state machine from the attempt to the manifest.
 *
 * <p>Imports the JDK and {@code dev.troupe.protocol}.
 */
package dev.troupe.protocol.checkpoint;
