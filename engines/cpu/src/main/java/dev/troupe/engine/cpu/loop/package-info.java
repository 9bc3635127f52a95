/**
 * Loops over floats at an address, by vectors of the processor, and the threads that share them out.
 *
 * <p>Imports the JDK and {@code dev.troupe.engine}.
 */
package dev.troupe.engine.cpu.loop;
