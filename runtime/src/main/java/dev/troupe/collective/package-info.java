/**
 * Collectives over the ranks of a process group: the group as one of its members sees it, what every implementation
 * shares, and the group as a stage sees it.
 *
 * <p>Imports the JDK, {@code dev.troupe.config.group}, {@code dev.troupe.engine}, {@code dev.troupe.parallel} and
 * {@code dev.troupe.transport}.
 */
package dev.troupe.collective;
