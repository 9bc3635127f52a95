/**
 * The kernels as plain loops over arrays in float64: the definition that every engine is tested against, itself tested
 * against finite differences.
 *
 * <p>Every sum runs over its terms in ascending order, beginning with the output's old value if a kernel adds. So float64
 * gradients that are accumulated over microbatches in order have the bits of one large batch. Functions come from
 * {@link StrictMath}, so every machine computes the same bits.
 */
package dev.troupe.engine.fallback.loop;
