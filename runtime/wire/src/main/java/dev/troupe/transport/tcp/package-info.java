/**
 * TCP connections between the processes of two nodes, plain or inside TLS: how they are made and made again, and the
 * frames on them. What a frame means is the caller's.
 *
 * <p>Imports the JDK, {@code dev.troupe.port}, {@code dev.troupe.transport}, {@code dev.troupe.wire}, {@code org.agrona}
 * and {@code org.slf4j}.
 */
package dev.troupe.transport.tcp;
