/**
 * Collectives between JVMs, and a member's ways to the others: a stream for each channel, read by the members on the
 * channel, and a connection, or a stream over UDP, to each member on another machine.
 */
package dev.troupe.collective.peer;
