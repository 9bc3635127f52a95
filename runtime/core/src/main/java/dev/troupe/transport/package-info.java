/**
 * The transport of tensors between ranks: edges, credits, messages, and the {@link dev.troupe.transport.Transport} of a
 * node. Plain types, no Aeron; the implementation is in {@code dev.troupe.transport.aeron}.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine} and {@code dev.troupe.protocol}.
 */
package dev.troupe.transport;
