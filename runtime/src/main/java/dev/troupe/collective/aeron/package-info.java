/**
 * Collectives between JVMs: each member publishes a stream for each channel, and those read it that hear it there. May
 * import {@code dev.troupe.collective}, {@code dev.troupe.transport}, Aeron and Agrona.
 */
package dev.troupe.collective.aeron;
