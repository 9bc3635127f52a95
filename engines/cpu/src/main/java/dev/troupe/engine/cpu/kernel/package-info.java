/** Kernels on tensors, a piece of work at a time, except matrix products. */
package dev.troupe.engine.cpu.kernel;
