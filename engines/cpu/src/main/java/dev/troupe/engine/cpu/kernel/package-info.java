/**
 * Kernels on tensors, a piece of work at a time: all but matrix products.
 */
package dev.troupe.engine.cpu.kernel;
