package dev.troupe.rank.lines;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A file of JSON objects, one on each line, that tolerates damage by a crash or a disk. Damage never stops a run: unreadable
 * lines are moved to a separate file next to it.
 *
 * <p>If the last line has no end, its process was killed while it wrote; the line is dropped without a message.
 */
public final class JsonLog {
    private static final JsonMapper JSON = JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final String DAMAGED = ".damaged";
    /** The lines of some million steps. */
    private static final long MOST_BYTES = 1 << 30;

    private JsonLog() {
    }

    public record Line(int number, String text, ObjectNode json) {
    }

    /**
     * A line that cannot be read.
     *
     * @param number in the file, from 1
     * @param bytes without the line feed
     */
    public record Damaged(int number, byte[] bytes) {
        /** Returns a line that can be parsed, but has an impossible content. */
        public static Damaged of(int number, String text) {
            return new Damaged(number, text.getBytes(StandardCharsets.UTF_8));
        }
    }

    /**
     * Reads a file line by line; a missing file has no lines.
     *
     * @param reader receives each line that is a JSON object; returns false if the line does not belong in this file
     * @return the lines that cannot be read, or that the reader refused
     * @throws IOException if it is a pipe or a device, which may have no end, or has more than 1 GiB; the message is the
     *     reason in words
     */
    public static List<Damaged> read(Path file, Predicate<Line> reader) throws IOException {
        List<Damaged> damaged = new ArrayList<>();
        byte[] bytes = bytes(file);
        int number = 0;
        for (int begin = 0, end; begin < bytes.length; begin = end + 1) {
            end = begin;
            while (end < bytes.length && bytes[end] != '\n') {
                end++;
            }
            number++;
            byte[] line = Arrays.copyOfRange(bytes, begin, end);
            if (!isRead(number, line, reader) && !isTorn(line, end == bytes.length) && line.length > 0) {
                damaged.add(new Damaged(number, line));
            }
        }
        return damaged;
    }

    private static byte[] bytes(Path file) throws IOException {
        if (!Files.exists(file)) {
            return new byte[0];
        }
        BoundedFile.requireRegular(file);
        if (Files.size(file) > MOST_BYTES) {
            throw new IOException("it has " + Files.size(file) + " bytes, and is read up to " + MOST_BYTES);
        }
        return Files.readAllBytes(file);
    }

    private static boolean isRead(int number, byte[] line, Predicate<Line> reader) {
        try {
            String text = text(line);
            return JSON.readTree(text) instanceof ObjectNode json && reader.test(new Line(number, text, json));
        } catch (CharacterCodingException | JsonProcessingException _) {
            return false;
        }
    }

    /** Returns whether a line is only the beginning of one. */
    private static boolean isTorn(byte[] line, boolean isLast) {
        try {
            return isLast && text(line).chars().noneMatch(Character::isISOControl);
        } catch (CharacterCodingException _) {
            return false;
        }
    }

    private static String text(byte[] line) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
    }

    /**
     * Moves damaged lines to a separate file, so that no reader meets them again.
     *
     * @param file the file that contains them
     * @param damaged some of its lines, in their order
     * @param kept the other lines, with their line feeds
     * @param trouble receives a sentence on the damaged ones
     */
    public static void setAside(Path file, List<Damaged> damaged, String kept, Consumer<String> trouble)
            throws IOException {
        if (!damaged.isEmpty()) {
            Path aside = file.resolveSibling(file.getFileName() + DAMAGED);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (Damaged line : damaged) {
                bytes.writeBytes(line.bytes());
                bytes.write('\n');
            }
            Files.write(aside, bytes.toByteArray(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            int number = damaged.getFirst().number();
            trouble.accept(file + " is damaged: "
                    + (damaged.size() == 1
                            ? "line " + number + " cannot be read and is"
                            : damaged.size() + " lines, the first of them line " + number
                                    + ", cannot be read and are")
                    + " in " + aside.getFileName() + " now; the run continues without "
                    + (damaged.size() == 1 ? "it" : "them"));
        }
        if (!Files.exists(file) || !Arrays.equals(kept.getBytes(StandardCharsets.UTF_8), Files.readAllBytes(file))) {
            Path whole = file.resolveSibling(file.getFileName() + ".new"); // a reader finds every line at any time
            Files.writeString(whole, kept);
            Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /**
     * Moves the damaged lines to a separate file; used for files that a resumed run does not read. If that is impossible,
     * the file is not changed.
     *
     * @param trouble receives a sentence on them
     */
    public static void mend(Path file, Consumer<String> trouble) {
        if (!Files.exists(file)) {
            return;
        }
        try {
            StringBuilder kept = new StringBuilder();
            List<Damaged> damaged = read(file, line -> {
                kept.append(line.text()).append('\n');
                return true;
            });
            setAside(file, damaged, kept.toString(), trouble);
        } catch (IOException failure) {
            trouble.accept("cannot read " + file + " (" + FileReason.of(failure) + "); the run continues without it");
        }
    }

    /** Reads a file that a run of this machine has just written; damaged lines are skipped. */
    public static List<ObjectNode> objects(Path file) {
        List<ObjectNode> objects = new ArrayList<>();
        try {
            read(file, line -> objects.add(line.json()));
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + file, failure);
        }
        return objects;
    }

    /** Appends a line. If the last line of the file has no line feed, one is added first. */
    public static void append(Path file, String line) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            append(channel, line);
        }
    }

    /** Adds a line to an open file, as {@link #append(Path, String)}. */
    public static void append(FileChannel channel, String line) throws IOException {
        long size = channel.size();
        ByteBuffer last = ByteBuffer.allocate(1);
        boolean hasEnd = size == 0 || channel.read(last, size - 1) == 1 && last.get(0) == '\n';
        ByteBuffer bytes = ByteBuffer
                .wrap(((hasEnd ? "" : "\n") + line + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            channel.write(bytes, size + bytes.position());
        }
    }
}
