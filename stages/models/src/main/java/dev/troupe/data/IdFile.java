package dev.troupe.data;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * A file of little-endian ids of two or four bytes, written atomically: it has a unique temporary name until
 * {@link #replace} or {@link #create}, and is deleted if closed before.
 */
final class IdFile implements IdSink, AutoCloseable {
    /** The suffix of a file that is being written, or was left incomplete. */
    static final String TEMPORARY = ".tmp";
    private static final int BUFFER_BYTES = 1 << 20;
    private static final int LARGEST_OF_TWO_BYTES = 0xFFFF;

    private final Path target;
    private final Path temporary;
    private final FileChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32C checksum = new CRC32C();
    private final int headerBytes;
    private final int idBytes;
    private long count;

    /**
     * Begins a file.
     *
     * @param headerBytes bytes reserved for the header before the first id
     * @param idBytes bytes of one id, 2 or 4
     */
    IdFile(Path target, int headerBytes, int idBytes) throws IOException {
        Path absolute = target.toAbsolutePath();
        this.target = absolute;
        this.temporary = absolute.resolveSibling("." + absolute.getFileName() + "." + UUID.randomUUID() + TEMPORARY);
        this.headerBytes = headerBytes;
        this.idBytes = idBytes;
        this.channel = FileChannel.open(temporary, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        temporary.toFile().deleteOnExit(); // if a signal ends the process
        channel.position(headerBytes);
    }

    @Override
    public void append(int[] ids, int idCount) throws IOException {
        for (int i = 0; i < idCount; i++) {
            if (buffer.remaining() < idBytes) {
                drain();
            }
            put(ids[i]);
        }
        count += idCount;
    }

    private void put(int id) {
        if (idBytes == Integer.BYTES) {
            buffer.putInt(id);
            return;
        }
        if (id > LARGEST_OF_TWO_BYTES) {
            throw new DataException("token id " + id + " does not fit the two bytes that " + target
                    + " has for each, of at most " + LARGEST_OF_TWO_BYTES + ": take a tokenizer of fewer tokens");
        }
        buffer.putShort((short) id);
    }

    private void drain() throws IOException {
        buffer.flip();
        checksum.update(buffer.duplicate());
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
        buffer.clear();
    }

    long count() {
        return count;
    }

    /** Returns the CRC-32C of all ids; none may be added after this. */
    long checksum() throws IOException {
        drain();
        return checksum.getValue();
    }

    /** Publishes the file under its name, with a header before its ids, in place of an older one. */
    void replace(ByteBuffer header) throws IOException {
        seal(header);
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * Publishes the file under its name, with a header before its ids.
     *
     * @throws java.nio.file.FileAlreadyExistsException if the name exists
     */
    void create(ByteBuffer header) throws IOException {
        seal(header);
        Files.move(temporary, target);
    }

    private void seal(ByteBuffer header) throws IOException {
        drain();
        if (header.remaining() != headerBytes) {
            throw new IllegalArgumentException("the header must have " + headerBytes + " bytes, but has "
                    + header.remaining());
        }
        for (int at = 0; header.hasRemaining();) {
            at += channel.write(header, at);
        }
        channel.force(true);
        channel.close();
    }

    @Override
    public void close() throws IOException {
        channel.close();
        Files.deleteIfExists(temporary);
    }
}
