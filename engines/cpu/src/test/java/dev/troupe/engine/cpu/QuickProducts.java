package dev.troupe.engine.cpu;

import dev.troupe.engine.conformance.EngineConformance;
import java.util.List;

/** The cases of the conformance with a matrix product, with few repetitions. */
abstract class QuickProducts extends EngineConformance {
    private static final List<String> KERNELS = List.of("matmul", "causalAttention", "causalAttentionBackward");

    @Override
    protected int repeats() {
        return 2;
    }

    @Override
    protected boolean takes(String kernelCase) {
        return KERNELS.stream().anyMatch(kernel -> kernelCase.startsWith(kernel + " "));
    }
}
