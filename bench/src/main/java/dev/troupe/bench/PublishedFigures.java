package dev.troupe.bench;

import java.util.List;
import java.util.OptionalDouble;

/**
 * Figures of other programs on another machine of 2 cores (with AVX-512 and AMX), for orders of magnitude. Measure both
 * programs on one machine if a ratio matters.
 */
public final class PublishedFigures {
    /** Aeron 1.51 IPC, messages of 4 MiB through tryClaim with an MTU of 64 KiB: no checksum, no credits, no tensors. */
    public static final double AERON_IPC_GIGABYTES_PER_SECOND = 3.7;

    /** Tokens per second of PyTorch 2.13 in float32: pipelining over Gloo, with a process and a thread for each rank. */
    private record PyTorch(BenchmarkModel model, int ranks, double tokensPerSecond) {
    }

    private static final List<PyTorch> PYTORCH = List.of(new PyTorch(BenchmarkModel.WIDE, 1, 1290),
            new PyTorch(BenchmarkModel.WIDE, 2, 1200), new PyTorch(BenchmarkModel.NARROW, 2, 11_500),
            new PyTorch(BenchmarkModel.NARROW, 4, 8900));

    private PublishedFigures() {
    }

    /** PyTorch's tokens per second, equal under the three schedules; empty if there is no measurement. */
    static OptionalDouble pyTorchTokensPerSecond(BenchmarkModel model, int ranks) {
        return PYTORCH.stream().filter(figure -> figure.model.equals(model) && figure.ranks == ranks)
                .mapToDouble(PyTorch::tokensPerSecond).findFirst();
    }
}
