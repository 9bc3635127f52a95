package dev.troupe.engine.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.provider.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That NVIDIA's libraries are looked for where they are installed, and that a person is told where. */
@Tag("plan")
class LibrarySearchTest {
    @TempDir
    private Path root;

    @Test
    void shouldLookInEveryFolderThatIsThere() throws IOException {
        Path own = folder("own");
        Path system = folder("usr/lib/x86_64-linux-gnu");
        Path home = folder("opt/cuda/lib64");
        Path later = folder("usr/local/cuda-13.0/lib64");
        Path earlier = folder("usr/local/cuda-12.8/lib64");
        Path environment = folder("venv/lib/python3.12/site-packages/nvidia/cu13/lib");
        Path ofSystem = folder("usr/local/lib/python3.12/dist-packages/nvidia/cublas/lib");
        LibrarySearch search = search(Map.of("LD_LIBRARY_PATH", own + "::" + root.resolve("not-there"), "CUDA_HOME",
                root.resolve("opt/cuda").toString(), "VIRTUAL_ENV", root.resolve("venv").toString()));
        assertEquals(List.of(own, system, system.getParent(), home, later, earlier, environment, ofSystem),
                search.folders());
    }

    @Test
    void shouldSayWhereCublasWasFound() throws IOException {
        Path library = Files.createFile(folder("usr/local/cuda-12.8/lib64").resolve("libcublasLt.so.12"));
        assertEquals(new Finding("cuBLASLt", true, library + "; products are the engine's own, with or without it"),
                search(Map.of()).cublas());
    }

    @Test
    void shouldSayWhereCublasWasLookedFor() throws IOException {
        Path system = folder("usr/lib64");
        assertEquals(
                new Finding("cuBLASLt", false,
                        "not found in [" + system + "]; products are the engine's own, with or without it"),
                search(Map.of()).cublas());
    }

    @Test
    void shouldSayThatCublasHasAnotherVersion() throws IOException {
        Path other = Files.createFile(folder("usr/lib64").resolve("libcublasLt.so.11.4.1"));
        assertEquals(new Finding("cuBLASLt", false, "expected libcublasLt.so.13 or libcublasLt.so.12, but found "
                + other
                + ", a library of another version: install that of CUDA 13 or 12 if it is to be found here; products are the"
                + " engine's own, with or without it"), search(Map.of()).cublas());
        Path known = Files.createFile(folder("usr/local/cuda-13.0/lib64").resolve("libcublasLt.so.13"));
        assertEquals(new Finding("cuBLASLt", true, known + "; products are the engine's own, with or without it"),
                search(Map.of()).cublas());
    }

    @Test
    void shouldSayWhichDriverWasLoaded() throws IOException {
        String where = "; the loader looks in LD_LIBRARY_PATH (/a:/b) and in the system's folders";
        LibrarySearch search = search(Map.of("LD_LIBRARY_PATH", "/a:/b"));
        assertEquals(new Finding("libcuda.so.1", false, "not found" + where), search.driver());
        Files.writeString(folder("proc/self").resolve("maps"),
                "7f00-7f01 r-xp 0 00:1 1 /usr/lib64/libc.so.6\n7f02-7f03 r-xp 0 00:1 2 /usr/lib64/libcuda.so.580.82\n");
        assertEquals(new Finding("libcuda.so.1", true, "/usr/lib64/libcuda.so.580.82" + where), search.driver());
        assertEquals("/usr/lib64/libcuda.so.580.82; the loader looks in LD_LIBRARY_PATH (not set) and in the system's"
                + " folders", search(Map.of()).driver().words());
    }

    private LibrarySearch search(Map<String, String> environment) {
        return new LibrarySearch(environment, root);
    }

    private Path folder(String name) throws IOException {
        return Files.createDirectories(root.resolve(name));
    }
}
