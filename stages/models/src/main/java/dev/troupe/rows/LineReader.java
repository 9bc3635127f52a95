package dev.troupe.rows;

import dev.troupe.data.DataException;
import dev.troupe.data.DataFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.function.Consumer;

/** A reader of the lines of a {@code .jsonl} file of any size; blank lines are skipped. */
final class LineReader implements DocumentReader {
    /** Most bytes of a line, which must fit on the heap. */
    static final int LONGEST_BYTES = 64 << 20;

    private final Path file;
    private final int fileIndex;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment bytes;
    private long position;
    private long number;

    /**
     * Opens a file.
     *
     * @throws DataException if it cannot be read, or is empty
     */
    LineReader(Path file, int fileIndex) {
        this.file = file;
        this.fileIndex = fileIndex;
        try {
            this.bytes = DataFile.mapText(file, arena);
        } catch (DataException refused) {
            arena.close();
            throw refused;
        }
    }

    @Override
    public boolean tryAdvance(Consumer<? super Unread> action) {
        while (position < bytes.byteSize()) {
            DocumentOrigin origin = new DocumentOrigin(file, fileIndex, ++number);
            long end = end(origin);
            byte[] line = bytes.asSlice(position, end - position).toArray(ValueLayout.JAVA_BYTE);
            position = end + 1;
            if (!isBlank(line)) {
                action.accept(new Unread(origin, () -> JsonLine.read(origin, line)));
                return true;
            }
        }
        return false;
    }

    private long end(DocumentOrigin origin) {
        long limit = Math.min(bytes.byteSize(), position + LONGEST_BYTES + 1);
        for (long at = position; at < limit; at++) {
            if (bytes.get(ValueLayout.JAVA_BYTE, at) == '\n') {
                return at;
            }
        }
        if (limit - position > LONGEST_BYTES) {
            throw new DataException(origin + " is longer than " + (LONGEST_BYTES >> 20)
                    + " MiB; write each document on a line of its own");
        }
        return limit;
    }

    private static boolean isBlank(byte[] line) {
        for (byte sign : line) {
            if (sign != ' ' && sign != '\t' && sign != '\r') {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        arena.close();
    }
}
