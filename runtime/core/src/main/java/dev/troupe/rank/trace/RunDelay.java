package dev.troupe.rank.trace;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * The time for which a thread was ready to run and had no core, as Linux counts it ({@code
 * Documentation/scheduler/sched-stats.rst}, second number of {@code /proc/PID/schedstat}). On other systems it is 0. Thread
 * rule: opened and read by the thread itself.
 */
final class RunDelay {
    private static final Path FILE = Path.of("/proc/thread-self/schedstat");

    private final FileChannel file;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(80);

    private RunDelay(FileChannel file) {
        this.file = file;
    }

    static RunDelay ofThisThread() {
        try {
            return new RunDelay(FileChannel.open(FILE));
        } catch (IOException _) { // not Linux, or a kernel without the count
            return new RunDelay(null);
        }
    }

    /** Returns the nanoseconds since the thread began. Allocates nothing. */
    long nanos() {
        if (file == null) {
            return 0;
        }
        try {
            bytes.clear();
            int length = file.read(bytes, 0);
            int at = 0;
            while (at < length && bytes.get(at) != ' ') {
                at++;
            }
            long nanos = 0;
            for (at++; at < length && bytes.get(at) >= '0' && bytes.get(at) <= '9'; at++) {
                nanos = nanos * 10 + bytes.get(at) - '0';
            }
            return nanos;
        } catch (IOException _) {
            return 0;
        }
    }

    void close() {
        if (file != null) {
            try {
                file.close();
            } catch (IOException _) {
                // it was only read
            }
        }
    }
}
