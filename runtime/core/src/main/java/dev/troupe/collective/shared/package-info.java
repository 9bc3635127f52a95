/**
 * Collectives between the threads of one JVM, through memory that they share: no copies but the sum.
 *
 * <p>Imports the JDK and {@code dev.troupe.collective}.
 */
package dev.troupe.collective.shared;
