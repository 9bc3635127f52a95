/**
 * Collectives between the threads of one JVM: small values by notes, large ones in the memory of the members themselves.
 *
 * <p>Imports the JDK and {@code dev.troupe.collective}.
 */
package dev.troupe.collective.shared;
