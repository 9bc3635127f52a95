/**
 * JMH benchmarks of the kernels of an engine, a class for each family, at the sizes of one microbatch of the wide model,
 * and the least that each kernel must compute or move.
 */
package dev.troupe.bench.kernels;
