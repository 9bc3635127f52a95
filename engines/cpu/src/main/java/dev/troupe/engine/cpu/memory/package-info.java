/** Tensors in native memory, packed copies of them, and scratch memory. */
package dev.troupe.engine.cpu.memory;
