/**
 * TCP connections between the processes of two nodes, plain or inside TLS: how they are made and made again, and the
 * frames on them. What a frame means is the caller's.
 */
package dev.troupe.transport.tcp;
