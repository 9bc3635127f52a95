/**
 * JMH benchmarks of the kernels of an engine, a class for each family, at the sizes of one microbatch of the wide model,
 * and what each kernel must compute or move at least. May import the JDK, JMH and {@code dev.troupe.engine}.
 */
package dev.troupe.bench.kernels;
