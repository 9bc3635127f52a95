package dev.troupe.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.bench.profile.KernelTimes;
import dev.troupe.bench.profile.ProfilingEngineProvider;
import java.util.List;
import org.junit.jupiter.api.Test;

class StepBenchmarkTest {
    private static final BenchmarkModel TINY = new BenchmarkModel("tiny", 2, 8, 2, 4, 256, 2, 1);

    @Test
    void shouldCountStepsAfterTheWarmUpAndTheProductsOfEachOfThem() throws Exception {
        System.setProperty(ProfilingEngineProvider.INNER, "reference");
        MeasuredRun run = MeasuredRun.of(TINY, new Arrangement(1, 1, "1f1b"), 1, 2,
                List.of("engine.kind=" + ProfilingEngineProvider.KIND));
        assertEquals(2, run.stepSeconds().size());
        KernelTimes.Total gelu = run.kernels().stream().filter(kernel -> kernel.name().equals("linearGelu")).findFirst()
                .orElseThrow();
        // 2 steps of 2 microbatches through 2 blocks, each a product of [4 x 8] and [8 x 32].
        assertEquals(8, gelu.calls());
        assertEquals(8 * 2 * 4 * 8 * 32, gelu.operations());
        assertTrue(StepReport.kernels(run).contains("| `linearGelu` | 4 |"));
        assertTrue(run.threads().cpuNanos().containsKey("rank 0"));
    }
}
