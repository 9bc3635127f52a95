package dev.troupe.look.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.look.output.StepHead;
import dev.troupe.look.output.StepJson;
import dev.troupe.look.output.StepRecords;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page finds new files by the time of their directory. */
@Tag("runtime")
class StepFilesTest {
    @TempDir
    private Path run;
    private Path steps;
    private StepFiles files;

    @BeforeEach
    void makeTheDirectory() throws IOException {
        steps = Files.createDirectory(run.resolve(StepRecords.DIRECTORY));
        files = new StepFiles(run);
    }

    private void write(long step, Instant changed) throws IOException {
        Files.writeString(steps.resolve(StepRecords.fileName(step)),
                "{\"schema\":" + StepJson.SCHEMA + ",\"step\":" + step + ",\"costs\":[]}");
        Files.setLastModifiedTime(steps, FileTime.from(changed));
    }

    /** The tick has not passed, however late the test's looks are. */
    @Test
    void shouldFindAFileWrittenWithinTheTickOfALook() throws IOException {
        Instant tick = Instant.now().plus(Duration.ofHours(1));
        write(7, tick);
        assertTrue(files.look());
        assertEquals(7, files.newest().map(StepHead::number).orElseThrow());
        write(8, tick);
        assertTrue(files.look());
        assertEquals(8, files.newest().map(StepHead::number).orElseThrow());
    }

    @Test
    void shouldNotReadAnUnchangedDirectoryAgain() throws IOException {
        write(7, Instant.now().minus(Duration.ofMinutes(1)));
        assertTrue(files.look());
        assertFalse(files.look());
        write(8, Instant.now().minus(Duration.ofSeconds(30)));
        assertTrue(files.look());
        assertEquals(8, files.newest().map(StepHead::number).orElseThrow());
    }
}
