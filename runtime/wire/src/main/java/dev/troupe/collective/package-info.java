/**
 * Collectives over the ranks of a process group: the group's interface for a member, and the common parts of its
 * implementations.
 */
package dev.troupe.collective;
