/**
 * The tensor transport of a node: one agent thread, and a link to each node. A link sends frames on a way of {@code
 * dev.troupe.wire.way}; within a machine, payloads bypass the stream through rings in shared memory or on a device. Frames,
 * credits and reassembly are plain classes without Aeron, so that tests can feed them any bytes.
 */
package dev.troupe.transport.link;
