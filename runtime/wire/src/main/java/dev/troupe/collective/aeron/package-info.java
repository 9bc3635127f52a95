/**
 * Collectives between JVMs: each member publishes a stream for each channel, and the members on the channel read it; it has
 * a connection with each member of another machine, or a stream over UDP.
 *
 * <p>Imports the JDK, {@code dev.troupe.collective}, {@code dev.troupe.engine}, {@code dev.troupe.transport.tcp},
 * {@code dev.troupe.wire}, {@code dev.troupe.wire.sbe}, {@code io.aeron} and {@code org.agrona}.
 */
package dev.troupe.collective.aeron;
