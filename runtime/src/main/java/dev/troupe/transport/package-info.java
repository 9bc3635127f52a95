/**
 * How tensors travel between ranks: edges, credits, messages, and the {@link dev.troupe.transport.Transport} that one
 * node has. Plain types, no Aeron; the implementation is in {@code dev.troupe.transport.aeron}.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.transport;
