/**
 * The benchmarks of kernels, of products by several libraries, of a training step and of emulated actions, one main
 * class for each, and the common parts of all benchmarks: sizes, one measured run, tables.
 */
package dev.troupe.bench;
