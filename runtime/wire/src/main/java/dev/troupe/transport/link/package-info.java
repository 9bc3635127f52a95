/**
 * The tensor transport of a node: one agent thread, and a link to each node. A link sends {@linkplain
 * dev.troupe.transport.frame frames} on a way of {@code dev.troupe.wire.way}; within a machine, payloads bypass the stream
 * through rings in shared memory or on a device. Credits and reassembly are plain classes without Aeron.
 */
package dev.troupe.transport.link;
