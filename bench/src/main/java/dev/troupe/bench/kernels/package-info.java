/**
 * JMH benchmarks of the kernels of an engine, a class for each family, at the sizes of one microbatch of the wide model,
 * and the least that each kernel must compute or move.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.engine.provider} and {@code org.openjdk.jmh}.
 */
package dev.troupe.bench.kernels;
