/**
 * Collectives over the ranks of a process group: the group's interface for a member, and the common parts of its
 * implementations.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.collective;
