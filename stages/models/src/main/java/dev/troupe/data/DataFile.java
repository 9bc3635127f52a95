package dev.troupe.data;

import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Map;

/** Access to data files: mapping into memory, and refusals. */
public final class DataFile {
    private static final MemorySegment MARK = MemorySegment.ofArray("\uFEFF".getBytes(StandardCharsets.UTF_8));

    /** The first bytes of compressed files, by the name of their format. */
    private static final Map<String, MemorySegment> COMPRESSED = Map.of("gzip", bytes("1f8b08"), "Zstandard",
            bytes("28b52ffd"), "xz", bytes("fd377a585a00"), "bzip2", bytes("425a6839314159265359"), "LZ4",
            bytes("04224d18"), "ZIP", bytes("504b0304"), "7z", bytes("377abcaf271c"));

    private DataFile() {
    }

    /**
     * Maps a file read-only.
     *
     * @param arena unmaps it when it is closed
     * @throws DataException if it cannot be read, or is empty
     */
    public static MemorySegment map(Path file, Arena arena) {
        if (Files.isDirectory(file)) {
            throw new DataException(file + " must be a file of data, but is a directory; name a file inside it");
        }
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new DataException(file + " must be a file of data, but is a device or a pipe; save it as a file");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            requireContent(file.toString(), channel.size());
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
        } catch (IOException failure) {
            throw unreadable(file, failure);
        }
    }

    private static MemorySegment bytes(String hexadecimal) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hexadecimal));
    }

    /**
     * Maps a text file, as {@link #map}, without its byte order mark.
     *
     * @throws DataException also if nothing else is in it, or if it is compressed under a name of text
     */
    public static MemorySegment mapText(Path file, Arena arena) {
        MemorySegment whole = map(file, arena);
        COMPRESSED.forEach((format, start) -> {
            if (startsWith(whole, start)) {
                throw compressed(file, "its content (" + format + ")");
            }
        });
        MemorySegment text = withoutMark(whole);
        requireContent(file.toString(), text.byteSize());
        return text;
    }

    /** Returns UTF-8 text without its byte order mark, which some editors write. */
    static MemorySegment withoutMark(MemorySegment utf8) {
        return startsWith(utf8, MARK) ? utf8.asSlice(MARK.byteSize()) : utf8;
    }

    private static boolean startsWith(MemorySegment bytes, MemorySegment start) {
        return bytes.byteSize() >= start.byteSize() && bytes.asSlice(0, start.byteSize()).mismatch(start) < 0;
    }

    /** @param by the sign of the compression */
    static DataException compressed(Path file, String by) {
        return new DataException(
                file + " is compressed by " + by + ", and files are read where they lie: unpack it, and"
                        + " name what it holds");
    }

    public static DataException unreadable(Path file, IOException failure) {
        return new DataException("cannot read " + file + ": " + FileReason.of(failure), failure);
    }

    static void requireContent(String name, long byteCount) {
        if (byteCount == 0) {
            throw new DataException(name + " is empty; give a file with data in it");
        }
    }
}
