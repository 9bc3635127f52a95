package dev.troupe.tokenizer.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A reader of small files, whole and with a limit on their size. Any thread. */
public final class BoundedFile {
    /** Far above any published tokenizer (32 MB), and small compared with a model. */
    public static final long MOST_BYTES = 64 << 20;

    private BoundedFile() {
    }

    /**
     * Returns the bytes of a file. A pipe may never end, and a device has no end, so neither is read.
     *
     * @throws NoSuchFileException if there is none
     * @throws IOException if it cannot be read, is no regular file, or has more than {@link #MOST_BYTES}; the
     *     message is the reason in words
     */
    public static byte[] bytes(Path file) throws IOException {
        requireRegular(file);
        long size = Files.size(file);
        if (size > MOST_BYTES) {
            throw new IOException("it has " + size + " bytes, and a file of its kind at most " + MOST_BYTES);
        }
        return Files.readAllBytes(file);
    }

    /** As {@link #bytes}, for text in UTF-8. */
    public static String text(Path file) throws IOException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(file))).toString();
    }

    /** Refuses a path that exists and is no regular file. */
    public static void requireRegular(Path file) throws IOException {
        if (!Files.exists(file)) {
            throw new NoSuchFileException(file.toString());
        }
        if (!Files.isRegularFile(file)) {
            throw new IOException(Files.isDirectory(file)
                    ? "it is a directory"
                    : "it is a device or a pipe; save it as a file");
        }
    }
}
