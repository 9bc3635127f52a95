package dev.troupe.engine.fallback;

/**
 * An engine with a default for every kernel, which computes on the host, in float64, from copies of the operands. Results
 * have the bits of the reference engine with the same types.
 *
 * <p>A new engine implements this interface with the five methods of {@link dev.troupe.engine.Memory} that have no default,
 * its kind and its types. {@code docs/add-an-engine.md} lists the kernels to override first.
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
            FallbackRouting,
            FallbackOptimizers {
}
