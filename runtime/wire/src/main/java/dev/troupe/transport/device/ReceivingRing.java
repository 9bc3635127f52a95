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
 * The reader's end of a ring in the memory of a device, which the reader's process has allocated. The device copies each
 * payload to its tensor while the transport does other work. Its space is freed after the copy, in the order of the frames.
 *
 * <p>Thread rule: the transport's thread.
 *
 * @param <P> the type of a payload's place
 */
public final class ReceivingRing<P> {
    private static final Logger LOG = LoggerFactory.getLogger(ReceivingRing.class);

    private final RingNote note;
    private final Memory.Shared memory;
    private final RingPositions positions;
    private final ArrayDeque<Arriving<P>> arriving = new ArrayDeque<>();
    private boolean isUsed;

    /** A payload with its copy in progress; the place is null if it was refused. */
    private record Arriving<P>(P place, long end, Fence copied) {
    }

    ReceivingRing(RingNote note, Memory.Shared memory) {
        this.note = note;
        this.memory = memory;
        this.positions = new RingPositions(note.position(), memory.byteCount());
    }

    public RingPositions positions() {
        return positions;
    }

    /** Returns the position after the payload of a frame with this reserved value. */
    public long end(long stamp) {
        return Stamp.end(stamp, positions.position());
    }

    /**
     * Begins to copy a payload from the ring to a tensor.
     *
     * @return reached when the copy is done; {@link #take} must follow
     * @throws RuntimeException the engine's exception if it cannot write the tensor
     */
    public Fence copy(long end, int length, Engine engine, Tensor tensor, long byteOffset) {
        Optional<Fence> copied = engine.fromShared(memory, positions.start(end, length), tensor, byteOffset, length);
        return copied.orElseThrow(
                () -> new IllegalStateException("the buffer is not on the device of the ring that the payload is in"));
    }

    /** Records that a payload is being copied to its place. */
    public void take(long end, P place, Fence copied) {
        isUsed = true;
        positions.advanceTo(end);
        arriving.add(new Arriving<>(place, end, copied));
    }

    /** Refuses the payload of a frame; its space is freed after the space of earlier payloads. */
    public void refuse(long end) {
        if (positions.advanceTo(end)) {
            isUsed = true;
            arriving.add(new Arriving<>(null, end, Fence.REACHED));
        }
    }

    boolean isBusy() {
        return !arriving.isEmpty();
    }

    boolean isRefused() {
        return !isUsed && note.isRefused();
    }

    /**
     * Handles finished copies; returns their number.
     *
     * @param listener receives the place of each, and the failure of its copy or null
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

    /** Waits for all copies in progress and forgets them, so that the device writes to no place any more. */
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

    /** Frees the memory unless the writer's process has it open; returns whether it did. No copy may be in progress. */
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
