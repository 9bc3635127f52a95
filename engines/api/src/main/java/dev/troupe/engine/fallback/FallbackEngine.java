package dev.troupe.engine.fallback;

/**
 * An engine that needs no kernel of its own: each kernel is computed on the host, in float64, from copies of its operands,
 * until the engine overrides it. Results have the bits of the reference engine with the same types.
 *
 * <p>An engine implements this interface and has {@link dev.troupe.engine.Memory}'s five methods without a default, its kind
 * and its types to start with; {@code docs/add-an-engine.md} lists the kernels to write first.
 *
 * <p>The kernels of attention share a state, so an engine overrides {@link #attentionStateShape}, {@link #causalAttention},
 * {@link #groupedAttention} and their backwards together, or none of them.
 */
public interface FallbackEngine
        extends
            FallbackElementwise,
            FallbackMatrix,
            FallbackNorms,
            FallbackAttention,
            FallbackTokens,
            FallbackOptimizers {
}
