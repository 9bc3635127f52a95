package dev.troupe.tokenizer.file;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class FileReasonTest {
    @TempDir
    private Path directory;

    /** The message of most of them is the path alone. */
    @Test
    void shouldHaveWordsForWhatTheSystemRefuses() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "x");
        assertReason("there is no such file", () -> Files.readString(directory.resolve("none")));
        assertReason("there is a file of that name already", () -> Files.createDirectory(file));
        assertReason("the directory is not empty", () -> Files.delete(directory));
        assertReason("it is no directory", () -> Files.list(file).close());
        assertReason("Not a directory", () -> Files.createFile(file.resolve("below")));
        assertReason("Is a directory", () -> Files.writeString(directory, "y"));
        assertEquals("permission denied", FileReason.of(new AccessDeniedException("/a/file")));
        assertEquals("the file system refused it", FileReason.of(new FileSystemException("/a/file")));
        assertEquals("Read-only file system",
                FileReason.of(new UncheckedIOException(new FileSystemException("/a", null, "Read-only file system"))));
        assertEquals("it was closed before the end", FileReason.of(new ClosedChannelException()));
        assertEquals("No space left on device", FileReason.of(new IOException("No space left on device")));
    }

    private static void assertReason(String expected, Executable access) {
        String found = "nothing";
        try {
            access.execute();
        } catch (IOException | UncheckedIOException refused) {
            found = FileReason.of(refused);
        } catch (Throwable other) {
            found = other.toString();
        }
        assertEquals(expected, found);
    }
}
