package dev.troupe.optimizer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.offload.StateRegion;
import dev.troupe.offload.StateStore;
import dev.troupe.parallel.Aside;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.shard.Moments;
import dev.troupe.shard.StageBuffers;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/**
 * The moments of a stage in a store. An update takes them through tensors of one chunk: another thread reads the next chunk
 * and writes the one before while a chunk is updated (ZeRO-Infinity, Rajbhandari et al. 2021, section 5.2.2).
 *
 * <p>Thread rule: the stage's thread.
 */
final class StoredMoments implements AutoCloseable {
    /** One chunk is read, one is updated, and one is written. */
    private static final int SLOTS = 3;

    private final Engine engine;
    private final Aside aside;
    private final StateRegion region;
    /** Bytes of one moment of all elements. */
    private final long momentBytes;
    private final List<Tensor> staging;
    private final List<Run> chunks;
    /** The first byte of each chunk in the room of a moment. */
    private final long[] starts;
    private final List<List<Moments>> ofRuns = new ArrayList<>();
    /** For each slot one for each moment. */
    private final List<List<MemorySegment>> slots;
    private final List<CompletableFuture<Void>> reads = new ArrayList<>();
    private final List<CompletableFuture<Void>> writes = new ArrayList<>();

    StoredMoments(Engine engine, StageBuffers buffers, Aside aside, StateStore store, List<Run> runs,
            int count) {
        this.engine = engine;
        this.aside = aside;
        int elementBytes = engine.parameterType().elementBytes();
        chunks = runs.stream().flatMap(run -> run.cut(store.chunkElements()).stream()).toList();
        starts = new long[chunks.size()];
        long next = 0;
        for (int chunk = 0; chunk < starts.length; chunk++) {
            starts[chunk] = next;
            next += chunks.get(chunk).elementCount() * elementBytes;
        }
        momentBytes = next;
        region = store.open(momentBytes * count);
        long largest = chunks.stream().mapToLong(Run::elementCount).max().orElse(1);
        staging = IntStream.range(0, count)
                .mapToObj(_ -> buffers.own(engine.parameterType(), Shape.row(largest))).toList();
        slots = IntStream.range(0, SLOTS).mapToObj(_ -> IntStream.range(0, count)
                .mapToObj(_ -> Arena.ofAuto().allocate(largest * elementBytes, Long.BYTES)).toList()).toList();
        long start = 0;
        for (Run run : runs) {
            long first = start;
            ofRuns.add(IntStream.range(0, count)
                    .mapToObj(moment -> buffers.storedMoments(run, region, moment * momentBytes + first)).toList());
            start += run.elementCount() * elementBytes;
        }
    }

    /** Returns the runs that are updated one after another. */
    List<Run> chunks() {
        return chunks;
    }

    /** Returns for each chunk the tensors of its moments while it is updated. */
    List<List<Tensor>> staged() {
        return chunks.stream().map(chunk -> staging.stream()
                .map(tensor -> engine.range(tensor, 0, Shape.row(chunk.elementCount()))).toList()).toList();
    }

    /** Returns the moments of each run, in the store. */
    List<List<Moments>> ofRuns() {
        return ofRuns;
    }

    /** Reads the moments of a chunk; chunks follow each other. */
    void beginUpdate(int chunk) {
        if (chunk == 0) {
            read(0);
        }
        if (chunk + 1 < chunks.size()) {
            read(chunk + 1);
        }
        Aside.join(reads.get(chunk));
        List<MemorySegment> slot = slot(chunk);
        for (int moment = 0; moment < staging.size(); moment++) {
            engine.copyFromHost(slot.get(moment), staging.get(moment), 0);
        }
    }

    /** Writes the moments of a chunk; the last chunk's writing ends all. */
    void endUpdate(int chunk) {
        List<MemorySegment> slot = slot(chunk);
        for (int moment = 0; moment < staging.size(); moment++) {
            engine.copyToHost(staging.get(moment), 0, slot.get(moment));
        }
        writes.add(run(() -> {
            for (int moment = 0; moment < slot.size(); moment++) {
                region.write(moment * momentBytes + starts[chunk], slot.get(moment));
            }
        }));
        if (chunk + 1 == chunks.size()) {
            writes.forEach(Aside::join);
            reads.clear();
            writes.clear();
        }
    }

    /** Begins to read a chunk, into the slot of the third chunk before it: the thread has written that one by then. */
    private void read(int chunk) {
        List<MemorySegment> slot = slot(chunk);
        reads.add(run(() -> {
            for (int moment = 0; moment < slot.size(); moment++) {
                region.read(moment * momentBytes + starts[chunk], slot.get(moment));
            }
        }));
    }

    private CompletableFuture<Void> run(Runnable task) {
        return CompletableFuture.runAsync(task, aside);
    }

    @Override
    public void close() {
        region.close();
    }

    private List<MemorySegment> slot(int chunk) {
        long bytes = chunks.get(chunk).elementCount() * engine.parameterType().elementBytes();
        return slots.get(chunk % SLOTS).stream().map(memory -> memory.asSlice(0, bytes)).toList();
    }
}
