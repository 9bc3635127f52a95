/**
 * TCP connections between the processes of two nodes, plain or inside TLS: their setup, their renewal after a failure, and
 * the frames on them. Callers define the content of frames.
 */
package dev.troupe.transport.tcp;
