package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.device.Gpus.Gpu;
import dev.troupe.engine.cuda.driver.DriverGpus;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.provider.DevicePick;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of when the engine can be used, and of its sentences if it cannot. */
@Tag("plan")
class CudaEngineProviderTest {
    private static final String NO_DRIVER = "the cuda engine needs NVIDIA's driver, but the loader finds no libcuda.so.1"
            + " (in LD_LIBRARY_PATH or the system's folders); install the driver, or take the engine cpu";

    private static final String T4 = "GPU 0 (Tesla T4, 15.0 GiB, compute capability 7.5)";
    private static final Gpu OLD = new Gpu(0, "Tesla T4", 15L << 30, 75);
    private static final Gpu A100 = new Gpu(1, "A100", 80L << 30, 80);

    private final EngineProvider provider = new CudaEngineProvider();

    @Test
    void shouldReportAMissingDriver() {
        assumeTrue(DriverGpus.here().obstacle().equals(Optional.of(NO_DRIVER)), "this machine has a driver");
        EngineSettings settings = new EngineSettings(DataType.FLOAT32, 1);
        assertEquals(Optional.of(NO_DRIVER), provider.obstacle(settings));
        assertEquals(NO_DRIVER, provider.description());
        assertEquals(NO_DRIVER,
                assertThrows(IllegalStateException.class, () -> provider.open(settings)).getMessage());
    }

    @Test
    void shouldReportAGpuThatIsTooOld() {
        String advice = "; choose another GPU by engine.device or CUDA_VISIBLE_DEVICES, or take the engine nd4j or cpu";
        assertEquals(Optional.of("the cuda engine needs compute capability 8.0, but the driver lists " + T4 + advice),
                on(OLD).obstacle(settings(DevicePick.FIRST)));
        assertEquals(
                Optional.of("the cuda engine needs compute capability 8.0, but engine.device names " + T4 + advice),
                on(OLD, A100).obstacle(settings(named(0))));
        assertEquals(Optional.empty(), on(OLD, A100).obstacle(settings(DevicePick.FIRST)));
        assertEquals(Optional.empty(), on(OLD, A100).obstacle(settings(named(1))));
    }

    @Test
    void shouldRefuseAGpuThatDoesNotExist() {
        EngineProvider two = on(OLD, A100);
        String refusal = "engine.device = 2 names a GPU that is not there: the driver lists " + T4
                + ", GPU 1 (A100, 80.0 GiB, compute capability 8.0); name one of these, or round-robin";
        assertEquals(Optional.of(refusal), two.obstacle(settings(named(2))));
        assertEquals(refusal,
                assertThrows(IllegalStateException.class, () -> two.open(settings(named(2)))).getMessage());
    }

    @Test
    void shouldRotateOverTheSuitableGpus() {
        StandInGpus gpus = new StandInGpus(new Gpu(0, "A100", 80L << 30, 80), new Gpu(1, "Tesla T4", 15L << 30, 75),
                new Gpu(2, "H200", 139L << 30, 90));
        for (int turn = 0; turn < 4; turn++) {
            new CudaEngineProvider(gpus).open(settings(new DevicePick(OptionalInt.empty(), turn))).close();
        }
        assertEquals(List.of(0, 2, 0, 2), gpus.opened());
    }

    @Test
    void shouldTakeTheNamedGpuOutsideTheRotation() {
        StandInGpus gpus = new StandInGpus(new Gpu(0, "A100", 80L << 30, 80), new Gpu(1, "H200", 139L << 30, 90));
        for (int turn = 0; turn < 2; turn++) {
            new CudaEngineProvider(gpus).open(settings(new DevicePick(OptionalInt.of(1), turn))).close();
        }
        assertEquals(List.of(1, 1), gpus.opened());
    }

    private static DevicePick named(int ordinal) {
        return new DevicePick(OptionalInt.of(ordinal), 0);
    }

    private static EngineSettings settings(DevicePick device) {
        return new EngineSettings(DataType.FLOAT32, 1).withDevice(device);
    }

    private static EngineProvider on(Gpu... gpus) {
        return new CudaEngineProvider(new StandInGpus(gpus));
    }

    @Test
    void shouldNotComputeInFloat64() {
        assertEquals(
                Optional.of("the cuda engine computes in FLOAT32, not in FLOAT64; set training.precision = float32,"
                        + " or take the engine reference or nd4j"),
                provider.obstacle(new EngineSettings(DataType.FLOAT64, 1)));
    }

    @Test
    void shouldFreeAllMemory() {
        InterpretedDevice device = Interpreted.device();
        CudaEngine engine = new CudaEngine(device, DataType.FLOAT32);
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(17));
        engine.fill(tensor, 2);
        Tensor sums = engine.allocate(DataType.FLOAT64, Shape.of(1));
        engine.sum(tensor, sums, 0);
        double[] sum = new double[1];
        engine.copyToHost(sums, 0, MemorySegment.ofArray(sum));
        assertEquals(34, sum[0]);
        engine.close();
        assertEquals(0, device.openAllocations());
    }
}
