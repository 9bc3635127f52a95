package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.blas.CublasLt;
import dev.troupe.engine.cuda.blas.StandInCublasLt;
import dev.troupe.engine.cuda.device.Gpus.Gpu;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Finding;
import dev.troupe.engine.provider.ProductLibraries;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the choice of a library by {@code engine.products}, and of the sentences about it. */
@Tag("plan")
class CudaProductsTest {
    private static final Path CACHE = Path.of("/nowhere");
    private static final Gpu H200 = new Gpu(0, "H200", 139L << 30, 90);

    private final InterpretedDevice device = Interpreted.device();
    private final StandInCublasLt standIn = new StandInCublasLt(device);
    private final EngineProvider provider = new CudaEngineProvider(new StandInGpus(device, H200), standIn::library,
            _ -> standIn.library());
    private final EngineProvider without = new CudaEngineProvider(new StandInGpus(device, H200),
            CudaProductsTest::absent, CublasLt::at);
    private final ProductLibraries libraries = provider.productLibraries().orElseThrow();
    private final ProductLibraries none = without.productLibraries().orElseThrow();

    private static CublasLt absent() {
        throw new IllegalStateException("cuBLASLt was not found in [/usr/lib]");
    }

    @Test
    void shouldUseOwnKernelsUnlessTheRunHasChosenTheLibrary() {
        for (String choice : List.of(EngineSettings.OWN_PRODUCTS, "own")) {
            multiply(choice);
            assertEquals(0, standIn.products());
        }
        multiply("cublaslt");
        assertEquals(1, standIn.products());
        multiply("/opt/libcublasLt.so.13");
        assertEquals(2, standIn.products());
        assertEquals(0, device.openAllocations());
    }

    private void multiply(String choice) {
        try (Engine engine = provider.open(settings(choice))) {
            Tensor sides = engine.allocate(DataType.FLOAT32, Shape.of(4, 4));
            Tensor product = engine.allocate(DataType.FLOAT32, Shape.of(4, 4));
            engine.matmul(sides, false, sides, false, product, false);
            engine.fence().await();
        }
    }

    @Test
    void shouldCountTheScratchMemoryOfTheLibrary() {
        try (Engine own = provider.open(settings("own")); Engine other = provider.open(settings("cublaslt"))) {
            assertEquals(0, own.productScratchBytes(4, 4, 4, false, DataType.FLOAT32));
            assertEquals(32 << 20, other.productScratchBytes(4, 4, 4, false, DataType.FLOAT32));
        }
    }

    private static EngineSettings settings(String products) {
        return new EngineSettings(DataType.FLOAT32, 1).withProducts(products);
    }

    @Test
    void shouldReportWhyAChoiceCannotBeUsed() {
        for (DataType type : List.of(DataType.FLOAT32, DataType.BFLOAT16)) {
            assertEquals(Optional.empty(), libraries.obstacle("cublaslt", type));
            assertEquals(Optional.empty(), none.obstacle("own", type));
        }
        assertEquals(Optional.of("engine.products = cublaslt: cuBLASLt was not found in [/usr/lib]; set engine.products"
                + " = own, or name the file of another"), none.obstacle("cublaslt", DataType.FLOAT32));
        assertEquals(Optional.of("engine.products = /nowhere/libcublasLt.so.13: the cuBLASLt"
                + " /nowhere/libcublasLt.so.13 is missing, or not a file; set engine.products = own, or name the file of"
                + " another"), none.obstacle("/nowhere/libcublasLt.so.13", DataType.FLOAT32));
        assertEquals(
                Optional.of("engine.products must be auto, own, cublaslt or the absolute path of a libcublasLt on the"
                        + " engine cuda, but is \"cublas\""),
                libraries.obstacle("cublas", DataType.FLOAT32));
        assertEquals("cuBLASLt was not found in [/usr/lib]",
                assertThrows(IllegalStateException.class, () -> without.open(settings("cublaslt"))).getMessage());
    }

    @Test
    void shouldRecognizeOnlyItsOwnChoices() {
        for (String own : List.of("own", "cublaslt", "/opt/cuda/lib64/libcublasLt.so.12")) {
            assertTrue(libraries.knows(own), own);
        }
        for (String other : List.of("onednn", "openblas", "/usr/lib/libblas.so.3", "libcublasLt.so.12", "/")) {
            assertFalse(libraries.knows(other), other);
        }
    }

    @Test
    void shouldNameVersionsForNodesToCompare() {
        assertEquals("own", libraries.identity("own"));
        assertEquals("own", libraries.identity(EngineSettings.OWN_PRODUCTS));
        assertEquals("cublaslt (cuBLASLt 13.1.0)", libraries.identity("cublaslt"));
    }

    @Test
    void shouldUseOwnKernelsUntilAMeasurementExists() {
        assertEquals("own", libraries.own());
        assertEquals("own", libraries.fastest(DataType.BFLOAT16, CACHE));
    }

    @Test
    void shouldReportTheProductsThatTheLibraryTakes() {
        String auto = "engine.products = auto takes the engine's own kernels, since no speed was measured on a GPU yet";
        String by = "by cuBLASLt 13.1.0";
        assertEquals(List.of(auto,
                "engine.products = cublaslt, FLOAT32: forward " + by + ", with a bias " + by + ", gradients of inputs "
                        + by + ", gradients of weights " + by,
                "engine.products = cublaslt, BFLOAT16: forward " + by + ", with a bias by own kernels, gradients of"
                        + " inputs " + by + ", gradients of weights " + by),
                libraries.measured(CACHE));
        assertEquals(List.of(auto), none.measured(CACHE));
        assertEquals(0, standIn.open());
    }

    @Test
    void shouldReportThePlaceOfTheLibrary() {
        assertEquals(List.of(new Finding("cuBLASLt", true, "cuBLASLt 13.1.0 in " + StandInCublasLt.FILE
                + "; engine.products = cublaslt has it compute products")), provider.findings());
        assertEquals(List.of(new Finding("cuBLASLt", false,
                "cuBLASLt was not found in [/usr/lib]; products are the engine's own")), without.findings());
    }
}
