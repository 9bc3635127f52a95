package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of engines after a failure of their device: their sentences, and that they can still be closed. */
@Tag("plan")
class LostDeviceTest {
    private static final String WHY = "NVIDIA's driver could not wait for GPU 0: an illegal memory access was encountered";

    @Test
    void shouldFailInEveryCallOfEveryEngineOfTheDevice() {
        InterpretedDevice device = Interpreted.device();
        Engine one = new CheckedEngine(new CudaEngine(device, DataType.FLOAT32));
        Engine other = new CheckedEngine(new CudaEngine(device, DataType.FLOAT32));
        Tensor first = one.allocate(DataType.FLOAT32, Shape.of(4));
        Tensor second = other.allocate(DataType.FLOAT32, Shape.of(4));
        Tensor sums = other.allocate(DataType.FLOAT64, Shape.of(1));
        device.lose(WHY);
        for (Runnable call : List.<Runnable>of(() -> one.fill(first, 1), () -> one.scale(first, 2),
                () -> other.sum(second, sums, 0),
                () -> other.allocate(DataType.FLOAT32, Shape.of(1)),
                () -> one.copyToHost(first, 0, MemorySegment.ofArray(new float[4])))) {
            assertEquals(WHY, assertThrows(LostDeviceException.class, call::run).getMessage());
        }
        first.close();
        one.close();
        other.close();
    }
}
