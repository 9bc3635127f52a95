/**
 * The engine that every other engine is measured by: its kernels are the definitions of
 * {@link dev.troupe.engine.fallback.FallbackEngine} and nothing else.
 */
package dev.troupe.engine.reference;
