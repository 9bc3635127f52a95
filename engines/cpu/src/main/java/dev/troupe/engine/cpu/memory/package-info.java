/**
 * Tensors in native memory, with what is packed of them, and scratch memory.
 */
package dev.troupe.engine.cpu.memory;
