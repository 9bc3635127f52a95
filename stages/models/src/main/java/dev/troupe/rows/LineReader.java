package dev.troupe.rows;

import dev.troupe.data.DataException;
import dev.troupe.data.DataFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The lines of a text file of any size, one after the other. */
final class LineReader {
    /** Bytes of a line; more is no document that a row can hold, and a heap must hold it as a whole. */
    static final int LONGEST_BYTES = 64 << 20;

    private LineReader() {
    }

    /** Takes lines. */
    interface Sink {
        void take(Place place, byte[] line) throws IOException;
    }

    /**
     * Hands on every line, without its end; lines of white space alone are passed over.
     *
     * @throws DataException
     *             where the file cannot be read, or a line is too long
     */
    static void read(Path file, int fileIndex, Sink sink) throws IOException {
        try (Arena own = Arena.ofShared()) {
            MemorySegment bytes = DataFile.map(file, own);
            long number = 0;
            for (long from = 0; from < bytes.byteSize();) {
                Place place = new Place(file, fileIndex, ++number);
                long end = end(bytes, from, place);
                byte[] line = bytes.asSlice(from, end - from).toArray(ValueLayout.JAVA_BYTE);
                if (!isBlank(line)) {
                    sink.take(place, line);
                }
                from = end + 1;
            }
        }
    }

    private static long end(MemorySegment bytes, long from, Place place) {
        long limit = Math.min(bytes.byteSize(), from + LONGEST_BYTES + 1);
        for (long at = from; at < limit; at++) {
            if (bytes.get(ValueLayout.JAVA_BYTE, at) == '\n') {
                return at;
            }
        }
        if (limit - from > LONGEST_BYTES) {
            throw new DataException(place + " is longer than " + (LONGEST_BYTES >> 20)
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

    /**
     * The characters of a line.
     *
     * @throws DataException
     *             where it is not UTF-8
     */
    static String decoded(Place place, byte[] line) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
        } catch (CharacterCodingException malformed) {
            throw new DataException(place + " is not UTF-8; convert the file to UTF-8", malformed);
        }
    }
}
