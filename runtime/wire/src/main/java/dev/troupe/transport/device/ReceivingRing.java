package dev.troupe.transport.device;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Tensor;
import dev.troupe.wire.RingPositions;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reader's end of a ring in the memory of a device, which the reader's process has allocated. A payload is copied to its
 * tensor on the device, while the transport does other work; its room goes back once the copy is done, in the order of the
 * frames.
 *
 * <p>Thread rule: the transport's thread.
 *
 * @param <P> places that payloads are copied to
 */
public final class ReceivingRing<P> {
    private static final Logger LOG = LoggerFactory.getLogger(ReceivingRing.class);

    private final RingNote note;
    private final Memory.Shared memory;
    private final RingPositions positions;
    private final ArrayDeque<Arriving<P>> arriving = new ArrayDeque<>();
    private boolean isUsed;

    /** A payload on its way to its place; null if it was refused. */
    private record Arriving<P>(P place, long end, Fence copied) {
    }

    ReceivingRing(RingNote note, Memory.Shared memory) {
        this.note = note;
        this.memory = memory;
        this.positions = new RingPositions(note.position(), memory.byteCount());
    }

    /** How far its reader is. */
    public RingPositions positions() {
        return positions;
    }

    /** The position after the payload of a frame with this reserved value. */
    public long end(long stamp) {
        return Stamp.end(stamp, positions.position());
    }

    /**
     * Begins to copy a payload that the ring holds to a tensor.
     *
     * @return reached once it is there; {@link #take} follows
     * @throws RuntimeException the engine's exception if it cannot write the tensor
     */
    public Fence copy(long end, int length, Engine engine, Tensor tensor, long byteOffset) {
        Optional<Fence> copied = engine.fromShared(memory, positions.start(end, length), tensor, byteOffset, length);
        return copied.orElseThrow(
                () -> new IllegalStateException("the buffer is not on the device of the ring that the payload is in"));
    }

    /** A payload is on its way to a place. */
    public void take(long end, P place, Fence copied) {
        isUsed = true;
        positions.told(end);
        arriving.add(new Arriving<>(place, end, copied));
    }

    /** The frame of a payload is refused: the room of the payload goes back after the room of those before it. */
    public void refuse(long end) {
        if (positions.told(end)) {
            isUsed = true;
            arriving.add(new Arriving<>(null, end, Fence.REACHED));
        }
    }

    boolean isBusy() {
        return !arriving.isEmpty();
    }

    /** Whether the writer's process will never use it. */
    boolean isRefused() {
        return !isUsed && note.isRefused();
    }

    /**
     * Looks which payloads have arrived; returns how many.
     *
     * @param listener receives the place of each, and its failure; null if there is none
     */
    int progress(BiConsumer<P, RuntimeException> listener) {
        int count = 0;
        for (Arriving<P> first; (first = arriving.peekFirst()) != null; count++) {
            RuntimeException failure = null;
            try {
                if (!first.copied.isReached()) {
                    break;
                }
            } catch (RuntimeException failed) {
                failure = failed;
            }
            arriving.removeFirst();
            positions.free(first.end);
            if (first.place != null) {
                listener.accept(first.place, failure);
            }
        }
        return count;
    }

    /** Forgets the payloads on their way: when this returns the device does not write to their places any more. */
    void settle() {
        for (Arriving<P> each : arriving) {
            try {
                each.copied.await();
            } catch (RuntimeException failed) { // whatever is asked of the engine says so
                LOG.debug("a copy from a ring failed", failed);
            }
            positions.free(each.end);
        }
        arriving.clear();
    }

    /** Gives the memory back, unless the writer's process has it open; returns whether it did. Nothing is on its way. */
    boolean close() {
        if (note.isHeld()) {
            return false;
        }
        try {
            memory.close();
            note.delete();
            note.close();
        } catch (RuntimeException | IOException failed) {
            LOG.debug("a ring of a device did not close", failed);
        }
        return true;
    }
}
