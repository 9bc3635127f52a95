package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.cpu.library.InstructionSet;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.provider.EngineSettings;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * That the limit which the build sets for its second run of the conformance tests limits: it is what makes them another
 * run.
 */
@Tag("parity")
@EnabledIfSystemProperty(named = "troupe.isa", matches = "avx2", disabledReason = "only in the run that is held to AVX2")
class HeldToAvx2Test {
    @Test
    void shouldHaveNoWiderVectorsAndNoUnitsForBfloat16() {
        assertEquals("AVX2", InstructionSet.here().toString());
        assertEquals(256, Lanes.FLOATS.vectorBitSize());
        assertFalse(BfloatUnits.arePresent());
        CpuEngineProvider provider = new CpuEngineProvider();
        assertEquals(provider.obstacle(new EngineSettings(DataType.FLOAT32, 1)),
                provider.obstacle(new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, 1)));
        assertTrue(provider.description().contains("with AVX2 and vector kernels of 256 bits"), provider.description());
    }
}
