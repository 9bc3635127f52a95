/**
 * The transport of tensors between ranks: edges, credits, messages, and the {@link dev.troupe.transport.Transport} of a
 * node. Plain types, no Aeron; the implementation is in {@code dev.troupe.transport.aeron}.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.transport;
