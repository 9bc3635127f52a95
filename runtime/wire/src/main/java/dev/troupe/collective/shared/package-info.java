/** Collectives between the threads of one JVM: small values by notes, large ones in the memory of the members themselves. */
package dev.troupe.collective.shared;
