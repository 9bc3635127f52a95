package dev.troupe.look.bisect;

import dev.troupe.plan.UsageException;
import dev.troupe.rank.bits.BitKey;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/** The digests that a run has recorded. Thread rule: one thread at a time. */
public final class RecordedBits implements AutoCloseable {
    private static final int MOST_HEADER_BYTES = 64 << 20;
    private static final int MOST_STEPS = 1 << 20;

    private final Path run;
    private final FileChannel channel;
    private final BitsHeader header;
    private final Map<BitKey, Integer> places = new HashMap<>();
    private final long start;
    private final ByteBuffer record;
    private final int slots;
    private final NavigableSet<Long> steps = new TreeSet<>();

    private RecordedBits(Path run, FileChannel channel) throws IOException {
        this.run = run;
        this.channel = channel;
        ByteBuffer prefix = read(0, BitsFile.PREFIX_BYTES);
        long magic = prefix.getLong();
        int length = prefix.getInt();
        this.slots = prefix.getInt();
        if (magic != BitsFile.MAGIC || length < 0 || length > MOST_HEADER_BYTES || slots < 1 || slots > MOST_STEPS
                || length > channel.size()) {
            throw new IllegalArgumentException("it is no file of digests, or a damaged one");
        }
        this.header = BitsHeader.parse(read(BitsFile.PREFIX_BYTES, length).array());
        this.start = BitsFile.PREFIX_BYTES + (long) length;
        for (int place = 0; place < header.keys().size(); place++) {
            places.put(header.key(place), place);
        }
        this.record = ByteBuffer.allocate(BitsFile.RECORD_PREFIX_BYTES + Long.BYTES * header.keys().size())
                .order(ByteOrder.LITTLE_ENDIAN);
        findSteps();
    }

    private void findSteps() throws IOException {
        for (int slot = 0; slot < slots && position(slot) + BitsFile.RECORD_PREFIX_BYTES <= channel.size(); slot++) {
            long step = read(position(slot), BitsFile.RECORD_PREFIX_BYTES).getLong();
            if (step >= 0 && step % slots == slot && values(step).length > 0) {
                steps.add(step);
            }
        }
    }

    private long position(long step) {
        return start + step % slots * record.capacity();
    }

    private ByteBuffer read(long at, int length) throws IOException {
        return read(at, ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN));
    }

    private ByteBuffer read(long at, ByteBuffer target) throws IOException {
        while (target.hasRemaining() && channel.read(target, at + target.position()) > 0) {
            // read on
        }
        return target.flip();
    }

    /**
     * Opens the digests of a run.
     *
     * @throws UsageException if there are none, or the file is damaged
     */
    public static RecordedBits open(Path run) {
        Path file = run.resolve(BitsFile.NAME);
        if (!Files.isDirectory(run)) {
            throw new UsageException("expected the directory of a run, but found none at " + run);
        }
        try {
            BoundedFile.requireRegular(file);
            FileChannel channel = FileChannel.open(file);
            try {
                return new RecordedBits(run, channel);
            } catch (IllegalArgumentException | BufferUnderflowException damaged) {
                channel.close();
                throw new UsageException(file + " cannot be read: " + (damaged.getMessage() == null
                        ? "it ends too early"
                        : damaged.getMessage()), damaged);
            } catch (IOException failure) {
                channel.close();
                throw failure;
            }
        } catch (NoSuchFileException absent) {
            throw new UsageException("the run in " + run + " has no digests (" + BitsFile.NAME
                    + "): it was made by an older Troupe, by an engine that computes nothing, or has done no step",
                    absent);
        } catch (IOException failure) {
            throw new UsageException(file + " cannot be read: " + FileReason.of(failure), failure);
        }
    }

    public Path run() {
        return run;
    }

    /** Returns the facts in which a run with equal bits must agree. */
    Map<String, String> facts() {
        return BitFacts.complete(header.facts());
    }

    public NavigableSet<Long> steps() {
        return Collections.unmodifiableNavigableSet(steps);
    }

    Map<BitKey, Integer> places() {
        return places;
    }

    /** Returns the digests of a step by place; empty if the step is missing or its record is damaged. */
    long[] values(long step) {
        try {
            read(position(step), record.clear());
            long[] values = new long[header.keys().size()];
            if (record.limit() < record.capacity() || record.getLong(0) != step
                    || record.getLong(Long.BYTES) != BitsFile.checksum(step, record)) {
                return new long[0];
            }
            record.position(BitsFile.RECORD_PREFIX_BYTES).asLongBuffer().get(values);
            return values;
        } catch (IOException failure) {
            throw new UsageException(run.resolve(BitsFile.NAME) + " cannot be read: " + FileReason.of(failure),
                    failure);
        }
    }

    String layerName(int layer) {
        return header.layers().get(layer);
    }

    int stageOf(int layer) {
        return header.stageOf(layer);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
