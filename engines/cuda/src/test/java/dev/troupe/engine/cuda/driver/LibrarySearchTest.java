package dev.troupe.engine.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.provider.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the report of the loaded driver, or of the search for it. */
@Tag("plan")
class LibrarySearchTest {
    @TempDir
    private Path root;

    @Test
    void shouldReportTheLoadedDriver() throws IOException {
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
