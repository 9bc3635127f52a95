/**
 * The tensor transport over Aeron: a media driver, embedded or shared with other nodes of the machine, one agent thread,
 * one stream from each node to each of its peers, and rings of shared memory for payloads to other processes of the machine.
 * Frames, credits and reassembly are plain classes without Aeron, so that tests can put any bytes into them.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.port}, {@code dev.troupe.protocol},
 * {@code dev.troupe.transport}, {@code dev.troupe.transport.driver}, {@code dev.troupe.transport.sbe},
 * {@code dev.troupe.transport.tcp}, {@code io.aeron}, {@code org.agrona} and {@code org.slf4j}.
 */
package dev.troupe.transport.aeron;
