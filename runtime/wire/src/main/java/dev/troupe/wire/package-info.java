/**
 * The common parts of the wire: the header of every frame.
 *
 * <p>Imports the JDK, {@code dev.troupe.wire.sbe} and {@code org.agrona}.
 */
package dev.troupe.wire;
