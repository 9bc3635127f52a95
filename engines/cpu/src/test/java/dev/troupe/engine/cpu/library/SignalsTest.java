package dev.troupe.engine.cpu.library;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.cpu.JavaProcess;
import org.junit.jupiter.api.Test;

/** A profiler's signals to a computing thread change nothing. In a separate process, which a failure would damage. */
class SignalsTest {
    @Test
    void shouldOverwriteNothingIfAMultiplyingThreadIsInterrupted() throws Exception {
        assertEquals("0", JavaProcess.output(SignalledProducts.class));
    }
}
