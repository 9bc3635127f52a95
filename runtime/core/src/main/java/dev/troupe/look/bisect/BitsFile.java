package dev.troupe.look.bisect;

import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.rank.bits.StepBits;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * {@code digests.bin} in the directory of a run: a header with the keys, and a ring of records of fixed size for the newest
 * steps. A repeated step overwrites its record. Thread rule: one thread at a time.
 */
public final class BitsFile implements AutoCloseable {
    public static final String NAME = "digests.bin";

    static final long MAGIC = 0x3142_5055_4F52_5427L;
    /** Magic, the length of the header and the number of records. */
    static final int PREFIX_BYTES = Long.BYTES + 2 * Integer.BYTES;
    /** Step and checksum. */
    static final int RECORD_PREFIX_BYTES = 2 * Long.BYTES;
    private static final long MOST_BYTES = 64L << 20;
    private static final int FEWEST_STEPS = 16;
    private static final int MOST_STEPS = 100_000;

    private final PreparedRun run;
    private final Path file;
    private final Consumer<String> trouble;
    /** Made with the first digests; an engine that computes nothing has none. */
    private FileChannel channel;
    private ByteBuffer buffer;
    private long start;
    private int steps;
    private boolean isTroubled;

    /**
     * Creates the file's writer; the first step opens the file.
     *
     * @param trouble receives a sentence if a step cannot be written; the run continues without it
     */
    public BitsFile(PreparedRun run, Path directory, Consumer<String> trouble) {
        this.run = run;
        this.file = directory.resolve(NAME);
        this.trouble = trouble;
    }

    /** Removes the file of an earlier run in a directory. */
    public static void clear(Path directory) throws IOException {
        Files.deleteIfExists(directory.resolve(NAME));
    }

    public void add(StepBits bits) {
        try {
            if (channel == null) {
                open(bits);
            }
            buffer.clear().position(RECORD_PREFIX_BYTES);
            for (long value : bits.values()) {
                buffer.putLong(value);
            }
            buffer.flip();
            buffer.putLong(0, bits.step()).putLong(Long.BYTES, checksum(bits.step(), buffer));
            write(channel, buffer, start + bits.step() % steps * buffer.capacity());
        } catch (IOException failure) {
            if (!isTroubled) {
                isTroubled = true;
                trouble.accept("The digests of steps cannot be written to " + file + ": " + FileReason.of(failure));
            }
        }
    }

    private void open(StepBits bits) throws IOException {
        byte[] header = BitsHeader.of(run, bits.layout()).toJson().getBytes(StandardCharsets.UTF_8);
        int recordBytes = Math.addExact(RECORD_PREFIX_BYTES, Math.multiplyExact(Long.BYTES, bits.values().length));
        buffer = ByteBuffer.allocateDirect(recordBytes).order(ByteOrder.LITTLE_ENDIAN);
        steps = Math.clamp(MOST_BYTES / recordBytes, FEWEST_STEPS, MOST_STEPS); // rounded down
        start = (long) PREFIX_BYTES + header.length;
        FileChannel opened = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        ByteBuffer begin = ByteBuffer.allocate(PREFIX_BYTES + header.length).order(ByteOrder.LITTLE_ENDIAN);
        begin.putLong(MAGIC).putInt(header.length).putInt(steps).put(header).flip();
        try {
            if (!Arrays.equals(begin.array(), beginning(opened, begin.capacity()))) { // a run on another grid, or none
                opened.truncate(0);
                write(opened, begin, 0);
            }
            channel = opened;
        } finally {
            if (channel == null) {
                opened.close(); // the next step tries again
            }
        }
    }

    private static byte[] beginning(FileChannel channel, int length) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(length);
        while (found.hasRemaining() && channel.read(found, found.position()) > 0) {
            // read on
        }
        return found.array();
    }

    private static void write(FileChannel channel, ByteBuffer bytes, long at) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes, at + bytes.position());
        }
    }

    static long checksum(long step, ByteBuffer record) {
        CRC32C sum = new CRC32C();
        sum.update(ByteBuffer.allocate(Long.BYTES).putLong(0, step));
        sum.update(record.duplicate().position(RECORD_PREFIX_BYTES));
        return sum.getValue();
    }

    @Override
    public void close() {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException failure) {
                trouble.accept("The digests of steps cannot be closed in " + file + ": " + FileReason.of(failure));
            }
        }
    }
}
