/** The cost of a hop of a message between two ranks, in one JVM and between two, and of a collective of two machines. */
package dev.troupe.bench.hop;
