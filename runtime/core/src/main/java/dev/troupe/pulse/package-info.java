/**
 * The pulse of a rank, by which a hang is noticed: kernels that end, bytes that move, collectives in which the rank
 * waits.
 *
 * <p>Imports the JDK, {@code dev.troupe.collective}, {@code dev.troupe.engine} and {@code dev.troupe.engine.check}.
 */
package dev.troupe.pulse;
