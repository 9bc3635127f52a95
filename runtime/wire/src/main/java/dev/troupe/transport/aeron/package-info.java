/**
 * The tensor transport: one agent thread of a node. To each process of its machine it has an Aeron stream, by a media
 * driver that is embedded or shared, and rings for payloads, in shared memory or on a device; to each node of another
 * machine it has a connection of {@code dev.troupe.transport.tcp}, or an Aeron stream over UDP. Frames, credits and
 * reassembly are plain classes without Aeron, so that tests can put any bytes into them.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.port}, {@code dev.troupe.protocol},
 * {@code dev.troupe.transport}, {@code dev.troupe.transport.device}, {@code dev.troupe.transport.driver},
 * {@code dev.troupe.transport.tcp}, {@code dev.troupe.wire}, {@code dev.troupe.wire.sbe}, {@code io.aeron},
 * {@code org.agrona} and {@code org.slf4j}.
 */
package dev.troupe.transport.aeron;
