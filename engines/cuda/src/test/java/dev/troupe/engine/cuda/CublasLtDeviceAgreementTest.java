package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Products by cuBLASLt against own kernels on a GPU, if a GPU and the library are present: at the sizes of a
 * model, for which the library has other algorithms than for the sizes of the conformance tests.
 */
@Tag("long")
@EnabledIf(value = "isThere", disabledReason = "no GPU here runs it: bench/gpu has the commands for one")
class CublasLtDeviceAgreementTest {
    static boolean isThere() {
        return OnGpu.serves(DataType.FLOAT32, CudaProducts.CUBLASLT)
                && OnGpu.serves(DataType.BFLOAT16, CudaProducts.CUBLASLT);
    }

    /** Products that it refuses would be compared with themselves below. */
    @Test
    void shouldComputeAllProductsWithoutABiasByTheLibrary() {
        List<String> lines = new CudaEngineProvider().productLibraries().orElseThrow().measured(Path.of("/none"));
        for (DataType type : List.of(DataType.FLOAT32, DataType.BFLOAT16)) {
            assertTrue(lines.stream().anyMatch(line -> line.matches(".*cublaslt, " + type
                    + ": forward by cuBLASLt.*, gradients of inputs by cuBLASLt.*, gradients of weights by cuBLASLt.*")),
                    lines::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({"FLOAT32, 1024, 768, 2304", "FLOAT32, 768, 4096, 768", "FLOAT32, 128, 768, 50257",
            "BFLOAT16, 1024, 768, 2304", "BFLOAT16, 768, 4096, 768", "BFLOAT16, 128, 768, 50257"})
    void shouldMultiplyLikeTheEnginesOwnKernels(DataType computeType, int m, int k, int n) {
        try (Engine own = OnGpu.open(computeType, CudaProducts.OWN);
                Engine library = OnGpu.open(computeType, CudaProducts.CUBLASLT)) {
            new ProductAgreement(own, library, m, k, n).hold();
        }
    }
}
