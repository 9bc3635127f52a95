/**
 * The truth: every kernel of {@link dev.troupe.engine.Engine} as plain Java loops, in float64, or in float32 and bfloat16
 * by rounding what float64 computed. Every other engine that computes is tested against this one, and this one against
 * finite differences.
 *
 * <p>Every sum runs over its terms in ascending order, beginning with what the output held where a kernel adds. So
 * float64 gradients that are accumulated over microbatches in order have the bits of those of one large batch. Functions
 * come from {@link StrictMath}, so the bits are also those of any other machine.
 */
package dev.troupe.engine.reference;
