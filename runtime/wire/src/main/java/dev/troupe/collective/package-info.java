/**
 * Collectives over the ranks of a process group: the interface of a member, and the common parts of its implementations.
 */
package dev.troupe.collective;
