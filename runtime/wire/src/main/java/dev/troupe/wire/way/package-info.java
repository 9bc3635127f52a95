/**
 * The way of frames from one process to another, which messages, collectives and copies share, and its two carriers: Aeron's
 * streams and connections.
 */
package dev.troupe.wire.way;
