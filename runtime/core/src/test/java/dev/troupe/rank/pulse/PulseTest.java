package dev.troupe.rank.pulse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The beats of an engine that a pulse observes. */
@Tag("runtime")
class PulseTest {
    @Test
    void shouldBeatWhenAKernelEnds() {
        Pulse pulse = new Pulse();
        try (ReferenceEngine engine = new ReferenceEngine(DataType.FLOAT32)) {
            engine.observe(pulse);
            try (Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(3))) {
                long beats = pulse.beats();
                engine.fill(tensor, 1);
                assertEquals(beats + 1, pulse.beats());
            }
        }
        long begun = pulse.begins(Kernel.MATMUL);
        long beats = pulse.beats();
        assertEquals(beats, pulse.beats(), "a kernel that has not ended");
        pulse.ended(Kernel.MATMUL, begun - 3_600_000_000_000L, null);
        assertTrue(pulse.longestKernelNanos() >= 3_600_000_000_000L);
    }
}
