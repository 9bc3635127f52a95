package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.driver.Gpus;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When the engine serves, and what it says where it does not. */
@Tag("plan")
class CudaEngineProviderTest {
    private static final String NO_DRIVER = "the cuda engine needs NVIDIA's driver, but the loader finds no libcuda.so.1"
            + " (in LD_LIBRARY_PATH or the system's folders); install the driver, or take the engine cpu";

    private final EngineProvider provider = new CudaEngineProvider();

    @Test
    void shouldSayThatThereIsNoDriver() {
        assumeTrue(Gpus.here().obstacle().equals(Optional.of(NO_DRIVER)), "this machine has a driver");
        EngineSettings settings = new EngineSettings(DataType.FLOAT32, 1);
        assertEquals(Optional.of(NO_DRIVER), provider.obstacle(settings));
        assertEquals(NO_DRIVER, provider.description());
        assertEquals(NO_DRIVER,
                assertThrows(IllegalStateException.class, () -> provider.open(settings)).getMessage());
    }

    @Test
    void shouldSayThatAGpuIsTooOld() {
        assertEquals(Optional.of("the cuda engine needs compute capability 8.0, but found GPU 0 (Tesla T4, 15.0 GiB,"
                + " compute capability 7.5); choose another with CUDA_VISIBLE_DEVICES, or take the engine nd4j or cpu"),
                CudaEngineProvider.capabilityObstacle(List.of(new Gpus.Gpu(0, "Tesla T4", 15L << 30, 75))));
        assertEquals(Optional.empty(),
                CudaEngineProvider.capabilityObstacle(List.of(new Gpus.Gpu(0, "A100", 80L << 30, 80))));
    }

    @Test
    void shouldNotComputeInFloat64() {
        assertEquals(
                Optional.of("the cuda engine computes in FLOAT32, not in FLOAT64; set training.precision = float32,"
                        + " or take the engine reference or nd4j"),
                provider.obstacle(new EngineSettings(DataType.FLOAT64, 1)));
    }

    @Test
    void shouldGiveAllMemoryBack() {
        InterpretedDevice device = Interpreted.device();
        CudaEngine engine = new CudaEngine(device, DataType.FLOAT32);
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(17));
        engine.fill(tensor, 2);
        assertEquals(34, engine.sum(tensor));
        engine.close();
        assertEquals(0, device.openAllocations());
    }
}
