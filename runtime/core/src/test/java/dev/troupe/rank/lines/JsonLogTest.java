package dev.troupe.rank.lines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("runtime")
class JsonLogTest {
    @TempDir
    private Path directory;

    /** A read of a pipe may never end, and of some devices has no end; this device would end at once. */
    @Test
    void shouldNotReadADevice() throws IOException {
        Path link = Files.createSymbolicLink(directory.resolve("log"), Path.of("/dev/null"));
        IOException refused = assertThrows(IOException.class, () -> JsonLog.read(link, _ -> true));
        assertEquals("it is a device or a pipe; save it as a file", refused.getMessage());
        List<String> trouble = new ArrayList<>();
        JsonLog.mend(link, trouble::add);
        assertEquals(List.of("cannot read " + link
                + " (it is a device or a pipe; save it as a file); the run continues without it"), trouble);
    }

    @Test
    void shouldNotReadMoreThanALogHas() throws IOException {
        Path log = directory.resolve("log");
        try (RandomAccessFile sparse = new RandomAccessFile(log.toFile(), "rw")) {
            sparse.setLength((1L << 30) + 1);
        }
        IOException refused = assertThrows(IOException.class, () -> JsonLog.read(log, _ -> true));
        assertEquals("it has 1073741825 bytes, and is read up to 1073741824", refused.getMessage());
    }
}
