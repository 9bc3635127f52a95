package dev.troupe.fault;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.KernelHook;
import java.util.Optional;

/** An observer of an engine in whose results a bit may flip; another observer sees the calls, too. */
public final class FlippingHook implements KernelHook {
    private final KernelHook other;
    private final Engine engine;
    private final BitFlips flips;

    /**
     * @param other sees every call, before a bit of its result flips
     * @param engine the observed engine
     * @param flips decides which results are struck
     */
    public FlippingHook(KernelHook other, Engine engine, BitFlips flips) {
        this.other = other;
        this.engine = engine;
        this.flips = flips;
    }

    @Override
    public long begins(Kernel kernel) {
        return other.begins(kernel);
    }

    @Override
    public void ended(Kernel kernel, long begun, Tensor result) {
        other.ended(kernel, begun, result);
        kindFor(kernel).ifPresent(kind -> flips.made(kind, engine, result));
    }

    /** The kind of fault that strikes what a kernel computes; empty for what moves numbers or reports on them. */
    private static Optional<FaultKind> kindFor(Kernel kernel) {
        return switch (kernel) {
            case LAYER_NORM, LAYER_NORM_BACKWARD, LAYER_NORM_BACKWARD_INPUT, LAYER_NORM_BACKWARD_WEIGHT, RMS_NORM,
                    RMS_NORM_BACKWARD, RMS_NORM_BACKWARD_INPUT, RMS_NORM_BACKWARD_WEIGHT ->
                Optional.of(FaultKind.FLIP_NORM_BIT);
            case ALLOCATE, COPY_TO_HOST, COPY_FROM_HOST, FILL, COPY, CAST, SUM, SQUARED_SUM, DIGEST -> Optional.empty();
            case ADD, SCALE, MATMUL, LINEAR, LINEAR_GELU, GELU, GELU_BACKWARD, SWI_GLU, SWI_GLU_BACKWARD, BIAS_BACKWARD,
                    EMBEDDING, EMBEDDING_BACKWARD, CAUSAL_ATTENTION, CAUSAL_ATTENTION_BACKWARD, GROUPED_ATTENTION,
                    GROUPED_ATTENTION_BACKWARD,
                    CACHED_ATTENTION, ROTARY, DROPOUT, CROSS_ENTROPY, CROSS_ENTROPY_BACKWARD, CROSS_ENTROPY_BOTH,
                    SHARD_SUM, JOIN_SHARDS, ADAM_W, SGD, SGD_MOMENTUM ->
                Optional.of(FaultKind.FLIP_BIT);
        };
    }
}
