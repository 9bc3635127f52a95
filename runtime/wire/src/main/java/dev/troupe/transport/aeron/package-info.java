/**
 * The tensor transport: one agent thread of a node. To each process of its machine it has an Aeron stream, by a media
 * driver that is embedded or shared, and rings for payloads, in shared memory or on a device; to each node of another
 * machine it has a connection of {@code dev.troupe.transport.tcp}, or an Aeron stream over UDP. Frames, credits and
 * reassembly are plain classes without Aeron, so that tests can put any bytes into them.
 */
package dev.troupe.transport.aeron;
