/**
 * A definition of every kernel, by loops on the host or by other kernels, for engines that do not have all kernels of their
 * own: {@link dev.troupe.engine.fallback.FallbackEngine}. The reference engine computes by nothing else, so a kernel that
 * falls back has the bits of the reference.
 */
package dev.troupe.engine.fallback;
