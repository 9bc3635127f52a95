/**
 * Collectives between JVMs: each member publishes a stream for each channel, and the members on the channel read it; it has
 * a connection with each member of another machine, or a stream over UDP.
 */
package dev.troupe.collective.aeron;
