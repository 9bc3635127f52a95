package dev.troupe.engine.cuda.blas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.engine.cuda.blas.CublasLt.Attribute;
import dev.troupe.engine.cuda.blas.CublasLt.Preference;
import dev.troupe.engine.cuda.blas.StandInCublasLt.Answer;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.cuda.ptx.PtxModule;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the binding: its constants, and its sentences about an unsuitable library. */
@Tag("plan")
class CublasLtTest {
    /** Names and values of the JavaCPP presets' classes of cuBLAS and the CUDA run-time. */
    private static final String CONSTANTS = "cublaslt-constants.txt";

    @TempDir
    private Path folder;

    private final InterpretedDevice device = new InterpretedDevice(new PtxModule(""), new Random(1));

    @Test
    void shouldHaveTheNumbersOfTheHeaders() throws IOException {
        Map<String, Integer> ours = new TreeMap<>(Map.of("CUBLAS_COMPUTE_32F", CublasLt.CUBLAS_COMPUTE_32F,
                "CUDA_R_32F", CublasLt.CUDA_R_32F, "CUDA_R_16BF", CublasLt.CUDA_R_16BF, "CUBLAS_OP_N",
                CublasLt.CUBLAS_OP_N, "CUBLAS_OP_T", CublasLt.CUBLAS_OP_T, "CUBLASLT_EPILOGUE_BIAS",
                CublasLt.CUBLASLT_EPILOGUE_BIAS, "CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE",
                CublasLt.CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, "CUBLAS_STATUS_SUCCESS",
                CublasLt.CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_NOT_SUPPORTED", CublasLt.CUBLAS_STATUS_NOT_SUPPORTED));
        ours.put("CUBLAS_STATUS_INVALID_VALUE", CublasLt.CUBLAS_STATUS_INVALID_VALUE);
        for (Attribute attribute : Attribute.values()) {
            ours.put("CUBLASLT_MATMUL_DESC_" + attribute, attribute.code);
        }
        for (Preference preference : Preference.values()) {
            ours.put("CUBLASLT_MATMUL_PREF_" + preference, preference.code);
        }
        assertEquals(golden(), ours);
    }

    private static Map<String, Integer> golden() throws IOException {
        Map<String, Integer> golden = new TreeMap<>();
        try (InputStream stream = CublasLtTest.class.getResourceAsStream(CONSTANTS)) {
            new String(stream.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" ")).forEach(words -> golden.put(words[0], Integer.parseInt(words[1])));
        }
        return golden;
    }

    @ParameterizedTest
    @ValueSource(strings = {"cublasLtGetVersion", "cublasLtGetStatusName", "cublasLtCreate", "cublasLtMatmul",
            "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatrixLayoutDestroy"})
    void shouldNameAMissingFunction(String function) {
        StandInCublasLt lacking = new StandInCublasLt(device).without(function);
        assertEquals("the cuBLASLt " + StandInCublasLt.FILE + " has no function " + function
                + ": name the library of CUDA 12 or 13",
                assertThrows(IllegalStateException.class, lacking::library).getMessage());
    }

    @ParameterizedTest
    @ValueSource(longs = {11401, 119999, 140000})
    void shouldRefuseAnotherVersion(long version) {
        StandInCublasLt other = new StandInCublasLt(device, _ -> Answer.HAS, version);
        assertEquals("the cuBLASLt " + StandInCublasLt.FILE + " reports version " + version
                + ", but versions from 120000 to below 140000 are known: name the library of CUDA 12 or 13",
                assertThrows(IllegalStateException.class, other::library).getMessage());
    }

    @Test
    void shouldNameItsVersion() {
        assertEquals("cuBLASLt 12.6.3", new StandInCublasLt(device, _ -> Answer.HAS, 120603).library().name());
        assertEquals("cuBLASLt 13.1.0", new StandInCublasLt(device).library().name());
    }

    @Test
    void shouldReportTheLibrarysRefusal() {
        CublasLt library = new StandInCublasLt(device).library();
        assertEquals("cuBLASLt 13.1.0 (" + StandInCublasLt.FILE
                + ") could not describe a matrix: CUBLAS_STATUS_INVALID_VALUE (status 7)",
                assertThrows(DeviceException.class, () -> library.createLayout(CublasLt.CUDA_R_32F, 4, 3, 2))
                        .getMessage());
    }

    @Test
    void shouldRefuseAFileThatIsNoLibrary() throws IOException {
        Path absent = folder.resolve("libcublasLt.so.13");
        assertEquals("the cuBLASLt " + absent + " is missing, or not a file", refusal(absent));
        Path text = Files.writeString(folder.resolve("libcublasLt.so.12"), "text");
        assertEquals("the cuBLASLt " + text + " is not a shared library", refusal(text));
    }

    private static String refusal(Path file) {
        return assertThrows(IllegalStateException.class, () -> CublasLt.at(file)).getMessage();
    }
}
