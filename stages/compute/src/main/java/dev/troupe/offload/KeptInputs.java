package dev.troupe.offload;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.ResidualStream;
import dev.troupe.layer.TensorPool;
import dev.troupe.parallel.Aside;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The inputs of blocks that the microbatches of a stage keep for their replays: this rank's rows of each, or all rows, in
 * memory or in a store. Another thread writes an input while the next block computes, and reads one while the block after it
 * goes back.
 *
 * <p>Thread rule: the stage's thread.
 */
public final class KeptInputs implements AutoCloseable {
    /** One is written or read while the next is copied. */
    private static final int SLOTS = 2;

    private final Engine engine;
    private final TensorPool pool;
    private final Aside aside;
    /** Null if a rank keeps all rows. */
    private final ResidualStream rows;
    private final TensorPool.Extent extent;
    /** Bytes of the longest input. */
    private final long mostBytes;
    /** Null if inputs are in memory. */
    private final StateStore store;
    private final int count;
    private final List<Room> open = new ArrayList<>();
    private final Slot[] writing = new Slot[SLOTS];
    private final Slot[] reading = new Slot[SLOTS];
    private int written;
    private int read;

    /** Host memory of one input, and the task that uses it. */
    private static final class Slot {
        private final MemorySegment memory;
        private CompletableFuture<Void> task = CompletableFuture.completedFuture(null);

        private Slot(long byteCount) {
            memory = Arena.ofAuto().allocate(byteCount, Long.BYTES);
        }
    }

    /**
     * Inputs of a stage.
     *
     * @param divides whether a rank of a tensor-parallel group keeps only its rows
     * @param count the inputs that a microbatch keeps
     */
    public KeptInputs(LayerContext context, Aside aside, boolean divides, Optional<StateStore> store, int count) {
        this.engine = context.engine();
        this.pool = context.pool();
        this.aside = aside;
        this.rows = divides ? ResidualStream.ofOwnRows(context) : null;
        this.extent = (divides ? rows : new ResidualStream(context)).extent();
        this.mostBytes = inputBytes(extent.whole());
        this.store = store.orElse(null);
        this.count = count;
        for (int slot = 0; this.store != null && slot < SLOTS; slot++) {
            writing[slot] = new Slot(mostBytes);
            reading[slot] = new Slot(mostBytes);
        }
    }

    private long inputBytes(Shape shape) {
        return shape.elementCount() * engine.computeType().elementBytes();
    }

    /** Returns the room for the inputs of one microbatch at a time. */
    public Room newRoom() {
        Room room = new Room();
        open.add(room);
        return room;
    }

    @Override
    public void close() {
        open.forEach(Room::close);
        open.clear();
    }

    /** The inputs of one microbatch after another. */
    public final class Room {
        private final StateRegion region = store == null
                ? null
                : store.open(count * mostBytes);
        /** The slot of the input that is being read; null for none. */
        private Slot next;
        private int nextIndex;

        private Room() {
        }

        /**
         * Takes over an input, and returns the tensor that the block keeps in place of it: null if it is in the store.
         *
         * @param index of the input, from 0
         */
        public Tensor keep(int index, Tensor input, int length) {
            Tensor own = rows == null ? input : rows.leave(input, length);
            if (region == null) {
                return own;
            }
            next = null; // of an earlier microbatch
            Slot slot = writing[written++ % SLOTS];
            Aside.join(slot.task);
            MemorySegment bytes = slot.memory.asSlice(0, own.byteCount());
            engine.copyToHost(own, 0, bytes);
            pool.give(own);
            slot.task = CompletableFuture.runAsync(() -> region.write(start(index), bytes), aside);
            return null;
        }

        private long start(int index) {
            return index * mostBytes;
        }

        /** Begins to read an input that is the next one to {@link #restore}. */
        public void prefetch(int index, int length) {
            if (region != null) {
                next = reading[read++ % SLOTS];
                nextIndex = index;
                MemorySegment bytes = next.memory.asSlice(0, inputBytes(extent.of(length)));
                next.task = CompletableFuture.runAsync(() -> region.read(start(index), bytes), aside);
            }
        }

        /** Returns all rows of an input; takes over the tensor that the block kept. */
        public Tensor restore(int index, Tensor kept, int length) {
            Tensor own = kept;
            if (region != null) {
                if (next == null || nextIndex != index) {
                    prefetch(index, length);
                }
                Slot slot = next;
                next = null;
                Aside.join(slot.task);
                own = pool.take(extent, length);
                engine.copyFromHost(slot.memory.asSlice(0, own.byteCount()), own, 0);
            }
            return rows == null ? own : rows.enter(own, length);
        }

        private void close() {
            if (region != null) {
                region.close();
            }
        }
    }
}
