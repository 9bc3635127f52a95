/** Collectives between the threads of one JVM: small values through copies, large ones in the members' own memory. */
package dev.troupe.collective.shared;
