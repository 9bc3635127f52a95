/** What a hop of a message between two ranks costs, in one JVM and between two, and a collective of two machines. */
package dev.troupe.bench.hop;
