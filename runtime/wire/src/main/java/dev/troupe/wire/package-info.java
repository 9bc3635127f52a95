/**
 * The common parts of the wire: the client of a media driver, stream ids, the header of every frame, rings of shared memory,
 * and the threads of agents with their commands and rests.
 */
package dev.troupe.wire;
