package dev.troupe.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetricsLogTest {
    private static final String FIRST = "{\"step\":0,\"loss\":2.5,\"step_seconds\":0.5}\n";
    private static final String SECOND = "{\"step\":1,\"loss\":2.25,\"step_seconds\":4.0}\n";
    private static final String FAILED = "{\"steps_done\":2,\"checkpoint_failed\":\"no room\"}\n";

    @TempDir
    private Path home;

    @Test
    void shouldReadOnlyLinesOfSteps() throws IOException {
        Path file = write(FIRST + SECOND + FAILED);
        assertEquals(List.of(0.5, 4.0), MetricsLog.stepSeconds(file));
        assertEquals(2.25, MetricsLog.lossOf(file, 1).orElseThrow());
    }

    @Test
    void shouldDropStepsThatAreDoneAgainAndWhatWasNotWrittenWhole() throws IOException {
        Path file = write(FIRST + SECOND + FAILED + "{\"step\":2,\"lo");
        Object before = identity(file);
        try (MetricsLog log = open(file, 1)) {
            assertEquals(1, log.nextStep());
        }
        assertEquals(FIRST, Files.readString(file));
        assertNotEquals(before, identity(file), "it was written over: for a moment the first line was not there");
    }

    @Test
    void shouldLeaveAFileThatIsWholeAsItIs() throws IOException {
        Path file = write(FIRST + SECOND + FAILED);
        Object before = identity(file);
        try (MetricsLog log = MetricsLog.takeOver(file, System.err::println)) {
            assertEquals(2, log.nextStep());
            log.writeCheckpointFailed(3, "no room");
        }
        assertEquals(before, identity(file));
        assertEquals(FIRST + SECOND + FAILED + FAILED.replace(":2", ":3"), Files.readString(file));
    }

    @Test
    void shouldEndALineThatLacksItsEnd() throws IOException {
        Path file = write(FIRST.strip());
        try (MetricsLog log = MetricsLog.takeOver(file, System.err::println)) {
            log.writeCheckpointFailed(2, "no room");
        }
        assertEquals(FIRST + FAILED, Files.readString(file));
    }

    private static MetricsLog open(Path file, long stepsDone) {
        return MetricsLog.open(file, stepsDone, System.err::println);
    }

    private Path write(String text) throws IOException {
        return Files.writeString(home.resolve(MetricsLog.FILE), text);
    }

    private static Object identity(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }
}
