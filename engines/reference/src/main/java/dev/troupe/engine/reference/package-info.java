/**
 * The engine against which every other engine is tested: its kernels are the defaults of
 * {@link dev.troupe.engine.fallback.FallbackEngine}, and nothing else.
 */
package dev.troupe.engine.reference;
