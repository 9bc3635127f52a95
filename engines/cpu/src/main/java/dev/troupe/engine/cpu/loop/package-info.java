/** Loops over floats at an address, in vectors of the processor, and the threads that share the work. */
package dev.troupe.engine.cpu.loop;
