/**
 * The process groups of a node's ranks, by kind and epoch, and a group over the tensors of an engine. Threads of one JVM
 * meet in shared memory, or on the device of their engines; nodes use streams and connections.
 */
package dev.troupe.rank.group;
