/**
 * The interface of the transport of tensors between ranks: {@link dev.troupe.transport.Transport}, its listener, settings,
 * counters and faults, and the addresses of nodes. Plain types without Aeron; {@code dev.troupe.transport.link} implements
 * it.
 */
package dev.troupe.transport;
