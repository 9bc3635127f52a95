/**
 * The transport of tensors between ranks: the {@link dev.troupe.transport.Transport} of a node with its listener, settings,
 * counters and faults, and the addresses of nodes. Plain types, no Aeron; the implementation is in
 * {@code dev.troupe.transport.link}.
 */
package dev.troupe.transport;
