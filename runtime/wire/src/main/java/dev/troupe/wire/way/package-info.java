/**
 * The carrier of frames from one process to another, which messages, collectives and copies share, with its implementation
 * over Aeron's streams; {@code dev.troupe.transport.tcp} has the other, over connections.
 */
package dev.troupe.wire.way;
