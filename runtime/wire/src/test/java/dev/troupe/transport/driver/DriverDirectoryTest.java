package dev.troupe.transport.driver;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.transport.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverDirectoryTest {
    @TempDir
    Path folder;

    @Test
    void shouldReportHowMuchRoomIsMissing() {
        TransportException refused = assertThrows(TransportException.class,
                () -> DriverDirectory.choose(Optional.of(folder.resolve("driver")), 1L << 60));
        assertTrue(refused.getMessage().contains("transport needs 1099511627776 MiB in " + folder),
                refused.getMessage());
        assertTrue(refused.getMessage().contains("transport.term-length"), refused.getMessage());
    }

    @Test
    void shouldDeleteTheFilesOfAKilledProcessAlone() throws IOException {
        Path abandoned = Files.createDirectories(folder.resolve("troupe-999999999999-0123abcd/publications"));
        Path living = Files.createDirectories(
                folder.resolve("troupe-" + ProcessHandle.current().pid() + "-0123abcd"));
        Path stranger = Files.createDirectories(folder.resolve("troupe-of-players"));
        DriverDirectory.deleteAbandoned(folder);
        assertFalse(Files.exists(abandoned.getParent()));
        assertTrue(Files.exists(living));
        assertTrue(Files.exists(stranger));
    }
}
