/**
 * Tensors in native memory, with what is packed of them, and scratch memory.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine} and {@code dev.troupe.engine.cpu.loop}.
 */
package dev.troupe.engine.cpu.memory;
