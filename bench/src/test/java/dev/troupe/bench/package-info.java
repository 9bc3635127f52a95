/** The benchmarks run; their figures are never asserted. */
package dev.troupe.bench;
