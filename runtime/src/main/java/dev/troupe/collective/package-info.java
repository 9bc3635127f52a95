/**
 * Collectives over the ranks of a process group: the group as one of its members sees it, what every implementation
 * shares, and the group as a stage sees it. May import {@code dev.troupe.engine},
 * {@code dev.troupe.parallel} and {@code dev.troupe.transport}.
 */
package dev.troupe.collective;
