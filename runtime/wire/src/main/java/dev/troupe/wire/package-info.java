/**
 * The common parts of the wire: the client of a media driver, the register of stream ids, the header of every frame, rings
 * of shared memory, and the threads of agents with their commands and their rest.
 */
package dev.troupe.wire;
