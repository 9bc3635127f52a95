/**
 * The media driver of Aeron: one in a process, or one for all the nodes of a machine, and the directory of its files.
 *
 * <p>Imports the JDK, {@code dev.troupe.transport}, {@code dev.troupe.wire}, {@code io.aeron}, {@code org.agrona} and
 * {@code org.slf4j}.
 */
package dev.troupe.transport.driver;
