/** The JMH benchmark of an engine's kernels: their calls by family, and the least that each must compute or move. */
package dev.troupe.bench.kernels;
