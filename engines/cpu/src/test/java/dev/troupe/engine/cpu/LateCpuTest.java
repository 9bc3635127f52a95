package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The cpu engine, late: memory that is read before a fence is NaN. */
@Tag("plan")
class LateCpuTest {
    @Test
    void shouldReadNanBeforeTheFence() {
        int shown = 0;
        int unwritten = 0;
        for (long seed = 0; seed < 20; seed++) {
            try (Engine engine = LateEngine.over(
                    new CpuEngineProvider().create(new EngineSettings(DataType.FLOAT32, 1)),
                    seed)) {
                Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(3));
                Optional<MemorySegment> memory = engine.hostMemory(tensor);
                if (memory.isPresent()) {
                    shown++;
                    Fence zeroed = engine.fence();
                    float early = memory.get().get(ValueLayout.JAVA_FLOAT, 4);
                    assertEquals(zeroed == Fence.REACHED, early == 0, "seed " + seed);
                    unwritten += Float.isNaN(early) ? 1 : 0;
                    zeroed.await();
                    assertEquals(0, memory.get().get(ValueLayout.JAVA_FLOAT, 4), "seed " + seed);
                }
            }
        }
        assertTrue(shown > 5 && unwritten > 5, shown + " of 20 show memory, and " + unwritten + " of them no numbers");
    }
}
