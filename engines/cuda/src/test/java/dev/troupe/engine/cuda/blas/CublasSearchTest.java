package dev.troupe.engine.cuda.blas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the search for cuBLASLt, and of its report. */
@Tag("plan")
class CublasSearchTest {
    @TempDir
    private Path root;

    @Test
    void shouldSearchEveryExistingFolder() throws IOException {
        Path own = folder("own");
        Path system = folder("usr/lib/x86_64-linux-gnu");
        Path home = folder("opt/cuda/lib64");
        Path later = folder("usr/local/cuda-13.0/lib64");
        Path earlier = folder("usr/local/cuda-12.8/lib64");
        Path environment = folder("venv/lib/python3.12/site-packages/nvidia/cu13/lib");
        Path ofSystem = folder("usr/local/lib/python3.12/dist-packages/nvidia/cublas/lib");
        CublasSearch search = search(Map.of("LD_LIBRARY_PATH", own + "::" + root.resolve("not-there"), "CUDA_HOME",
                root.resolve("opt/cuda").toString(), "VIRTUAL_ENV", root.resolve("venv").toString()));
        assertEquals(List.of(own, system, system.getParent(), home, later, earlier, environment, ofSystem),
                search.folders());
    }

    @Test
    void shouldTakeTheLatestVersionThatTheDriverSupports() throws IOException {
        Path twelve = Files.createFile(folder("usr/lib64").resolve("libcublasLt.so.12"));
        Path thirteen = Files.createFile(folder("usr/lib64").resolve("libcublasLt.so.13"));
        assertEquals(thirteen, search(Map.of()).find(13));
        assertEquals(thirteen, search(Map.of()).find(14));
        assertEquals(twelve, search(Map.of()).find(12));
    }

    @Test
    void shouldReportTheSearchedPlaces() throws IOException {
        Path system = folder("usr/lib64");
        assertEquals("cuBLASLt was not found in [" + system + "]", refusal(13));
        assertEquals("cuBLASLt needs a driver of CUDA 12 or later, but this one is of CUDA 11", refusal(11));
    }

    @Test
    void shouldReportAnotherVersion() throws IOException {
        Path other = Files.createFile(folder("usr/lib64").resolve("libcublasLt.so.11.4.1"));
        assertEquals(
                "cuBLASLt must be libcublasLt.so.13 or libcublasLt.so.12 for this driver, but was found as " + other,
                refusal(13));
        Path later = Files.createFile(folder("usr/local/cuda-13.0/lib64").resolve("libcublasLt.so.13"));
        assertEquals("cuBLASLt must be libcublasLt.so.12 for this driver, but was found as " + other + ", " + later,
                refusal(12));
        assertEquals(later, search(Map.of()).find(13));
    }

    private String refusal(int driverMajor) {
        return assertThrows(IllegalStateException.class, () -> search(Map.of()).find(driverMajor)).getMessage();
    }

    private CublasSearch search(Map<String, String> environment) {
        return new CublasSearch(environment, root);
    }

    private Path folder(String name) throws IOException {
        return Files.createDirectories(root.resolve(name));
    }
}
