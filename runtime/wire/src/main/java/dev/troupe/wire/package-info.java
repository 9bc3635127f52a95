/**
 * The common parts of the wire: the client of a media driver, the register of stream ids, the header of every frame, rings
 * of shared memory, and the threads of agents with their commands and their rest.
 *
 * <p>Imports the JDK, {@code dev.troupe.transport}, {@code dev.troupe.wire.sbe}, {@code io.aeron}, {@code org.agrona} and
 * {@code org.slf4j}.
 */
package dev.troupe.wire;
