package dev.troupe.look.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RetryingFileTest {
    @TempDir
    private Path folder;
    private Path path;
    private final List<String> said = new ArrayList<>();
    private Disk disk;
    private RetryingFile file;

    @BeforeEach
    void openFile() throws IOException {
        path = Files.writeString(folder.resolve("lines"), "before\n");
        disk = new Disk(Files.newByteChannel(path, StandardOpenOption.WRITE));
        file = new RetryingFile(disk, "lines", said::add);
    }

    @Test
    void shouldAddLinesAtTheEnd() throws IOException {
        file.addLine("one");
        file.addLine("two");
        assertEquals("before\none\ntwo\n", Files.readString(path));
        file.close();
        assertEquals(List.of(), said);
    }

    @Test
    void shouldKeepLinesUntilThereIsRoom() throws IOException {
        disk.room = 6;
        file.addLine("one");
        file.addLine("two");
        file.addLine("three");
        assertEquals("before\none\n", Files.readString(path), "no half a line");
        assertEquals(
                List.of("cannot write lines (No space left on device); its records wait in memory until there is room"),
                said);
        disk.room = 1000;
        file.addLine("four");
        assertEquals("before\none\ntwo\nthree\nfour\n", Files.readString(path));
        assertEquals("lines is written again", said.getLast());
    }

    @Test
    void shouldReportTheMissingLinesAtTheEnd() throws IOException {
        disk.room = 0;
        file.addLine("one");
        file.addLine("two");
        file.close();
        assertEquals("lines lacks the last 2 records, which could not be written", said.getLast());
        assertEquals("before\n", Files.readString(path));
    }

    /** Has room for a number of bytes more, and writes as many of a line as fit. */
    private static final class Disk implements SeekableByteChannel {
        private final SeekableByteChannel real;
        private int room = Integer.MAX_VALUE;

        private Disk(SeekableByteChannel real) {
            this.real = real;
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            if (room == 0) {
                throw new IOException("No space left on device");
            }
            int count = Math.min(room, bytes.remaining());
            int written = real.write(bytes.slice().limit(count));
            bytes.position(bytes.position() + written);
            room -= written;
            return written;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            return real.read(target);
        }

        @Override
        public long position() throws IOException {
            return real.position();
        }

        @Override
        public SeekableByteChannel position(long position) throws IOException {
            real.position(position);
            return this;
        }

        @Override
        public long size() throws IOException {
            return real.size();
        }

        @Override
        public SeekableByteChannel truncate(long size) throws IOException {
            room += Math.toIntExact(Math.max(0, real.size() - size));
            real.truncate(size);
            return this;
        }

        @Override
        public boolean isOpen() {
            return real.isOpen();
        }

        @Override
        public void close() throws IOException {
            real.close();
        }
    }
}
