package dev.troupe.look.output;

import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * A file of records, such as lines, that survives a full disk: a record that cannot be written waits in memory until there
 * is room. Order is kept, and each record is written whole or not at all. Thread rule: one thread at a time.
 */
final class RetryingFile implements AutoCloseable {
    /** About 35 MB: a line of metrics or a record of TensorBoard takes about 350 bytes. */
    private static final int MOST_WAITING = 100_000;

    private final SeekableByteChannel channel;
    private final String what;
    private final Consumer<String> trouble;
    private final Deque<ByteBuffer> waiting = new ArrayDeque<>();
    private long end;
    private long lost;
    private boolean isDelayed;

    /**
     * @param channel the file's channel, at its end
     * @param trouble receives a sentence when records begin to wait, and when all are written again
     */
    RetryingFile(SeekableByteChannel channel, String what, Consumer<String> trouble) throws IOException {
        this.channel = channel;
        this.what = what;
        this.trouble = trouble;
        this.end = channel.size();
    }

    void addLine(String line) {
        add((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    void add(byte[] record) {
        waiting.add(ByteBuffer.wrap(record));
        if (waiting.size() > MOST_WAITING) {
            waiting.removeFirst();
            lost++;
        }
        writeWaiting();
    }

    private void writeWaiting() {
        try {
            while (!waiting.isEmpty()) {
                write(waiting.getFirst().duplicate());
                waiting.removeFirst();
            }
            if (isDelayed) {
                isDelayed = false;
                trouble.accept(what + " is written again" + (lost == 0 ? "" : ", but lacks " + lost + " records"));
            }
        } catch (IOException failure) {
            if (!isDelayed) {
                isDelayed = true;
                trouble.accept("cannot write " + what + " (" + FileReason.of(failure)
                        + "); its records wait in memory until there is room");
            }
        }
    }

    private void write(ByteBuffer record) throws IOException {
        try {
            channel.position(end);
            while (record.hasRemaining()) {
                channel.write(record);
            }
            end += record.limit();
        } catch (IOException failure) {
            channel.truncate(end); // a reader never finds half a record
            throw failure;
        }
    }

    /** Closes the file, and reports the records that could not be written. */
    @Override
    public void close() {
        writeWaiting();
        if (isDelayed) {
            trouble.accept(
                    what + " lacks the last " + (waiting.size() + lost) + " records, which could not be written");
        }
        try {
            channel.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
