/**
 * Collectives between JVMs, and the ways of a member to its peers: a stream for each channel, which the members on the
 * channel read, and a connection to each member of another machine, or a stream over UDP.
 */
package dev.troupe.collective.peer;
