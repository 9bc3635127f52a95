/**
 * Whether a rank moves, and what that is seen by: kernels that end, bytes that move, collectives that it waits in.
 *
 * <p>Imports the JDK, {@code dev.troupe.collective} and {@code dev.troupe.engine}.
 */
package dev.troupe.pulse;
