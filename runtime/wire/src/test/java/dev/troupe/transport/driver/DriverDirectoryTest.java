package dev.troupe.transport.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.transport.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
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

    @Test
    void shouldLetNoOtherUserReadWhatTheDriverHasMade() throws IOException {
        Path driver = Files.createDirectories(folder.resolve("driver"));
        Path publications = Files.createDirectories(driver.resolve("publications"));
        Path file = Files.writeString(driver.resolve("cnc.dat"), "");
        Path log = Files.writeString(publications.resolve("1.logbuffer"), "");
        Files.setPosixFilePermissions(driver, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(publications, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setPosixFilePermissions(log, PosixFilePermissions.fromString("rw-rw-rw-"));
        DriverDirectory.hide(driver);
        for (Path path : List.of(driver, publications)) {
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)), "" + path);
        }
        for (Path path : List.of(file, log)) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)), "" + path);
        }
    }
}
