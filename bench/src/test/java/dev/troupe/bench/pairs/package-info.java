/** Tests of {@link dev.troupe.bench.pairs}. */
package dev.troupe.bench.pairs;
