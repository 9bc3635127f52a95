package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.conformance.share.Dealt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Steps keep the same memory and leave no garbage. They run in a separate process: if a loop of vectors has run
 * in fewer than one call of a hundred so far, as with other sizes, the compiler inlines none of its operations, and each
 * makes an object from then on.
 */
@Dealt(4)
class SteadyMemoryTest {
    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "BFLOAT16"})
    void shouldKeepTheSameMemoryAndLeaveNoGarbageInEachStep(DataType computeType) throws Exception {
        assertEquals("", JavaProcess.output(SteadyMemory.class, computeType.name()));
    }
}
