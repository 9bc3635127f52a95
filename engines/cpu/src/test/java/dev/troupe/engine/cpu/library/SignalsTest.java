package dev.troupe.engine.cpu.library;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.cpu.JavaProcess;
import org.junit.jupiter.api.Test;

/** What a profiler sends to a thread that computes changes nothing. In a process of its own, which would be damaged. */
class SignalsTest {
    @Test
    void shouldOverwriteNothingWhereAThreadIsInterruptedThatMultiplies() throws Exception {
        assertEquals("0", JavaProcess.output(SignalledProducts.class));
    }
}
