/**
 * Collectives between JVMs that share a media driver: each member publishes one stream, and all others read it. May import
 * {@code dev.troupe.collective}, Aeron and Agrona.
 */
package dev.troupe.collective.aeron;
