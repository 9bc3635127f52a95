/**
 * The logic of one rank as a pure state machine: it walks the rank's row and logs what the rank has sent.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol} and {@code dev.troupe.schedule}.
 */
package dev.troupe.protocol.rank;
