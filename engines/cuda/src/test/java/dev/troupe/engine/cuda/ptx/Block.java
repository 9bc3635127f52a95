package dev.troupe.engine.cuda.ptx;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The block of threads that runs now. Its warps run one after another from barrier to barrier, in an order that is drawn
 * anew each time.
 *
 * <p>Thread rule: one thread.
 */
final class Block {
    final DeviceMemory memory;
    final SharedMemory shared;
    final byte[] parameters;
    private final PtxKernel kernel;
    private final List<Warp> warps = new ArrayList<>();
    private final int columns;
    private int x;
    private int y;

    /** A block of a number of threads, of a grid with a number of columns. */
    Block(PtxKernel kernel, DeviceMemory memory, byte[] parameters, int threads, int columns) {
        this.kernel = kernel;
        this.memory = memory;
        this.parameters = parameters;
        this.columns = columns;
        shared = new SharedMemory(kernel.sharedBytes());
        for (int index = 0; index < threads / Warp.LANES; index++) {
            warps.add(new Warp(kernel, this, index));
        }
    }

    int x() {
        return x;
    }

    int y() {
        return y;
    }

    int columns() {
        return columns;
    }

    /** Runs the block at a place of the grid. */
    void run(int column, int row, Random random) {
        x = column;
        y = row;
        shared.forget();
        List<Warp> running = new ArrayList<>(warps);
        running.forEach(Warp::begin);
        while (!running.isEmpty()) {
            Collections.shuffle(running, random);
            running.forEach(Warp::run);
            running.removeIf(Warp::hasEnded);
            if (!running.isEmpty() && running.size() < warps.size()) {
                throw running.getFirst().fault(0, "the block waits at a barrier, but a warp of it has ended");
            }
            shared.barrier();
        }
    }

    @Override
    public String toString() {
        return kernel.name() + " (" + x + ", " + y + ")";
    }
}
