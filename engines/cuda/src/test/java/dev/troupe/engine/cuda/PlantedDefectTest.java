package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.cuda.device.LaunchArguments;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.cuda.ptx.PtxFault;
import dev.troupe.engine.cuda.ptx.PtxModule;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the interpreter detects defects planted in kernels or in their arguments. */
@Tag("parity")
class PlantedDefectTest {
    private static final int ROWS = 17;
    private static final int COLUMNS = 33;
    private static final int THREADS = 256;

    /** Memory for the sums of columns of one matrix of ones. */
    private static final class Sums implements AutoCloseable {
        private final DeviceStream stream;
        private final LaunchArguments arguments = new LaunchArguments();
        private final long matrix;
        private final long partial;

        Sums(PtxModule module) {
            stream = new InterpretedDevice(module, new Random(7)).openStream();
            matrix = stream.allocate(ROWS * COLUMNS * Float.BYTES);
            partial = stream.allocate(COLUMNS * Float.BYTES);
            stream.fill(matrix, Float.floatToRawIntBits(1), ROWS * COLUMNS);
        }

        float[] of(long address, int rows) {
            arguments.clear();
            arguments.addWide(address);
            arguments.addWide(partial);
            arguments.addInteger(rows);
            arguments.addInteger(rows);
            arguments.addInteger(COLUMNS);
            stream.launch("bias_chunks_f32", 1, 1, THREADS, arguments);
            float[] sums = new float[COLUMNS];
            stream.toHost(partial, MemorySegment.ofArray(sums));
            return sums;
        }

        @Override
        public void close() {
            arguments.close();
            stream.close();
        }
    }

    @Test
    void shouldRunTheUnchangedKernel() {
        try (Sums sums = new Sums(Interpreted.MODULE)) {
            for (float sum : sums.of(sums.matrix, ROWS)) {
                assertEquals(ROWS, sum);
            }
        }
    }

    @Test
    void shouldDetectAReadBeyondTheEnd() {
        try (Sums sums = new Sums(Interpreted.MODULE)) {
            fails("lie outside all memory, at \"ld.global.f32", () -> sums.of(sums.matrix, ROWS + 1));
        }
    }

    @Test
    void shouldDetectAMisalignedPointer() {
        try (Sums sums = new Sums(Interpreted.MODULE)) {
            fails("is no multiple of 4, at \"ld.global.f32", () -> sums.of(sums.matrix + 2, ROWS - 1));
        }
    }

    @Test
    void shouldDetectAMissingBarrier() {
        try (Sums sums = new Sums(without("bias_chunks_f32", "bar.sync 0;"))) {
            fails("a race: thread ", () -> sums.of(sums.matrix, ROWS));
        }
    }

    @Test
    void shouldDetectACopyWithoutAWait() {
        assertThrows(AssertionError.class, () -> AlignedProductsTest.agrees(
                without("product_bf16_nn", "cp.async.wait_group 0;"), 128, 64, 128, false, false));
    }

    @Test
    void shouldReadNanFromUnwrittenMemory() {
        try (Sums sums = new Sums(Interpreted.MODULE)) {
            long unwritten = sums.stream.allocate(ROWS * COLUMNS * Float.BYTES);
            assertTrue(Float.isNaN(sums.of(unwritten, ROWS)[0]));
        }
    }

    @Test
    void shouldDetectAMissingArgument() {
        try (Sums sums = new Sums(Interpreted.MODULE)) {
            sums.arguments.clear();
            fails("bias_chunks_f32 has 5 parameters, but found 0 arguments",
                    () -> sums.stream.launch("bias_chunks_f32", 1, 1, THREADS, sums.arguments));
        }
    }

    /** The module without the instructions of this text in one kernel. */
    private static PtxModule without(String kernel, String instruction) {
        return Interpreted.planted(kernel, body -> body.replace(instruction, ""));
    }

    private static void fails(String part, Runnable call) {
        String message = assertThrows(PtxFault.class, call::run).getMessage();
        assertTrue(message.contains(part), message);
    }
}
