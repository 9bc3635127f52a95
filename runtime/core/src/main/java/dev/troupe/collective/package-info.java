/**
 * Collectives over the ranks of a process group: the group's interface for a member, the common parts of its
 * implementations, and the group over the tensors of an engine.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.group}, {@code dev.troupe.engine}, {@code dev.troupe.parallel} and
 * {@code dev.troupe.transport}.
 */
package dev.troupe.collective;
