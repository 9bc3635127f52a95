/** The libraries of matrix products, and the abilities of these and of the processor. */
package dev.troupe.engine.cpu.library;
