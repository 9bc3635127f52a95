/**
 * The process groups of a node's ranks, by kind and epoch, the groups of a rank, and a group over the tensors of an engine.
 * Threads of one JVM meet in shared memory, or in the memory of their device; nodes use streams and connections.
 */
package dev.troupe.rank.group;
