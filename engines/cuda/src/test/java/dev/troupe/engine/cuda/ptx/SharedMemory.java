package dev.troupe.engine.cuda.ptx;

import java.util.Arrays;

/**
 * The memory that the threads of a block share, and which of them read and wrote each word of four bytes since the last
 * barrier: what one thread writes no other may read or write before the next.
 *
 * <p>Thread rule: one thread.
 */
final class SharedMemory {
    /** Addresses begin here, so that no variable is at 0. */
    static final int FIRST = 256;
    private static final int SEVERAL = -1;
    private static final byte UNWRITTEN = -1;

    private final int size;
    private final byte[] bytes;
    private final int[] writeEpochs;
    private final int[] writers;
    private final int[] readEpochs;
    private final int[] readers;
    private int epoch;

    SharedMemory(int size) {
        this.size = size;
        bytes = new byte[size];
        int words = size / Integer.BYTES + 4;
        writeEpochs = new int[words];
        writers = new int[words];
        readEpochs = new int[words];
        readers = new int[words];
    }

    /** Begins a new block: contents of an earlier block become NaN. */
    void forget() {
        Arrays.fill(bytes, UNWRITTEN);
        epoch++;
    }

    void barrier() {
        epoch++;
    }

    byte[] bytes() {
        return bytes;
    }

    int reading(Warp warp, int lane, long address, int count) {
        int at = place(warp, lane, address, count);
        int thread = warp.thread(lane);
        for (int word = at / Integer.BYTES; word < (at + count + 3) / Integer.BYTES; word++) {
            if (writeEpochs[word] == epoch && writers[word] != thread) {
                throw warp.fault(lane, "a race: thread " + writers[word]
                        + " wrote this shared memory and no barrier is between");
            }
            if (readEpochs[word] != epoch) {
                readEpochs[word] = epoch;
                readers[word] = thread;
            } else if (readers[word] != thread) {
                readers[word] = SEVERAL;
            }
        }
        return at;
    }

    /** The address of a read by all lanes of a warp. */
    int readingOfAll(Warp warp, long address, int count) {
        int at = reading(warp, 0, address, count);
        reading(warp, 1, address, count); // so that several have read it
        return at;
    }

    int writing(Warp warp, int lane, long address, int count) {
        int at = place(warp, lane, address, count);
        int thread = warp.thread(lane);
        for (int word = at / Integer.BYTES; word < (at + count + 3) / Integer.BYTES; word++) {
            if (writeEpochs[word] == epoch && writers[word] != thread) {
                throw warp.fault(lane, "a race: thread " + writers[word]
                        + " wrote this shared memory too and no barrier is between");
            }
            if (readEpochs[word] == epoch && readers[word] != thread) {
                throw warp.fault(lane, "a race: " + (readers[word] == SEVERAL ? "others" : "thread " + readers[word])
                        + " read this shared memory and no barrier is between");
            }
            writeEpochs[word] = epoch;
            writers[word] = thread;
        }
        return at;
    }

    private int place(Warp warp, int lane, long address, int count) {
        long at = address - FIRST;
        if (at < 0 || at + count > size) {
            throw warp.fault(lane, "%d bytes from %d lie outside the %d of shared memory".formatted(count, at, size));
        }
        if ((address & count - 1) != 0) {
            throw warp.fault(lane, "address %d of shared memory is no multiple of %d".formatted(at, count));
        }
        return (int) at;
    }
}
