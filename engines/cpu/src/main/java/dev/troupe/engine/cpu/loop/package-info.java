/**
 * Loops over floats at an address, by vectors of the processor, and the threads that share them out.
 */
package dev.troupe.engine.cpu.loop;
