/**
 * The benchmarks of kernels, of products by several libraries, of a training step and of emulated actions, one main
 * class for each, and the common parts of all benchmarks: sizes, one measured run, tables.
 *
 * <p>Imports the JDK, {@code dev.troupe.bench.kernels}, {@code dev.troupe.bench.profile}, {@code dev.troupe.compare},
 * {@code dev.troupe.config}, {@code dev.troupe.engine}, {@code dev.troupe.engine.provider}, {@code dev.troupe.observe},
 * {@code dev.troupe.prepare}, {@code dev.troupe.protocol}, {@code dev.troupe.run}, {@code dev.troupe.transport},
 * {@code org.openjdk.jmh} and {@code picocli}.
 */
package dev.troupe.bench;
