package dev.troupe.look.page;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A file of lines that another thread or process writes: each read returns the complete lines since the last. Thread rule:
 * one thread at a time.
 */
final class LineFile {
    /** The maximum read, about 200,000 lines; the beginning of a larger file is skipped. */
    private static final long MOST_BYTES = 64L << 20;

    private final Path file;
    private Object key;
    private long read;
    private boolean isAnew;

    LineFile(Path file) {
        this.file = file;
    }

    /** Returns the lines since the last read; if the file was replaced, all lines. */
    List<String> newLines() {
        isAnew = false;
        try {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
            if (!now.isRegularFile()) {
                return List.of(); // a pipe may never end
            }
            if (!Objects.equals(key, now.fileKey()) || now.size() < read) {
                key = now.fileKey();
                read = Math.max(0, now.size() - MOST_BYTES);
                isAnew = true;
            }
            return now.size() > read ? read() : List.of();
        } catch (IOException _) {
            return List.of(); // not written yet
        }
    }

    /** Whether the last read started again at the beginning of the file, so that earlier lines are void. */
    boolean isAnew() {
        return isAnew;
    }

    private List<String> read() throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            long from = read;
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(MOST_BYTES, channel.size() - from));
            while (bytes.hasRemaining() && channel.read(bytes, from + bytes.position()) > 0) {
                // until everything is read
            }
            List<String> lines = new ArrayList<>();
            int begin = 0;
            for (int at = 0; at < bytes.position(); at++) {
                if (bytes.get(at) == '\n') {
                    lines.add(new String(bytes.array(), begin, at - begin, StandardCharsets.UTF_8));
                    begin = at + 1;
                }
            }
            read = from + begin; // half a line waits for its other half
            if (isAnew && from > 0 && !lines.isEmpty()) {
                lines.removeFirst(); // it began before
            }
            return lines;
        }
    }
}
