/** That the benchmarks run; what they measure is never asserted. */
package dev.troupe.bench;
