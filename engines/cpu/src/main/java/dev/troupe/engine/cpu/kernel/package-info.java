/**
 * Kernels on tensors, a piece of work at a time: all but matrix products.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.cpu.library},
 * {@code dev.troupe.engine.cpu.loop} and {@code dev.troupe.engine.cpu.memory}.
 */
package dev.troupe.engine.cpu.kernel;
