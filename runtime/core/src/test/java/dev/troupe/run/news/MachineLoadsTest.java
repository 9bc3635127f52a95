package dev.troupe.run.news;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.watch.MachineLoad;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class MachineLoadsTest {
    @TempDir
    private Path directory;

    private Optional<MachineLoad> read(String average, String processor) throws IOException {
        return MachineLoads.read(Files.writeString(directory.resolve("loadavg"), average),
                Files.writeString(directory.resolve("stat"), processor));
    }

    @Test
    void shouldReadTheLoadOnLinux() throws IOException {
        assertEquals(Optional.of(new MachineLoad(63, 2)), read("58.21 35.50 12.52 63/1293 17213\n",
                "cpu  90417 0 11789\ncpu0 43723 0 5098\ncpu1 46693 0 6690\nintr 17 0\n"));
    }

    @Test
    void shouldBeEmptyOnOtherSystems() throws IOException {
        assertEquals(Optional.empty(), read("none", "cpu0 1\n"));
        assertEquals(Optional.empty(), read("1 1 1 2/3 4\n", "nothing\n"));
        assertEquals(Optional.empty(),
                MachineLoads.read(directory.resolve("loadavg"), directory.resolve("absent")));
    }
}
