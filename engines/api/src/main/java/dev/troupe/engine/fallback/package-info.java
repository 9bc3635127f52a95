/**
 * A default of every kernel, by loops on the host or by other kernels: {@link dev.troupe.engine.fallback.FallbackEngine}.
 * The reference engine uses these alone, so a default kernel has the bits of the reference.
 */
package dev.troupe.engine.fallback;
