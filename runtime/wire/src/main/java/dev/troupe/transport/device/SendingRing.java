package dev.troupe.transport.device;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Tensor;
import dev.troupe.wire.RingPositions;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writer's end of a ring in the memory of a device. The device copies each piece of a tensor to the ring while the
 * transport does other work; the frame of a piece is sent after its copy. The reader ignores bytes without a frame, so a
 * writer that dies leaves no partial piece to the reader.
 *
 * <p>Thread rule: the transport's thread.
 *
 * @param <M> the type of a message
 */
public final class SendingRing<M> {
    private static final Logger LOG = LoggerFactory.getLogger(SendingRing.class);

    private final RingNote note;
    private final Memory.Shared memory;
    private final RingPositions positions;
    private final int pieceBytes;
    private final ArrayDeque<Piece<M>> inFlight = new ArrayDeque<>();

    /**
     * A piece of a message that is being copied to the ring.
     *
     * @param offset of the piece in its message, in bytes
     * @param start the position at which its space begins
     * @param stamp the reserved value of its frame
     * @param copied reached once its bytes are in the ring
     */
    public record Piece<M>(M message, long offset, int length, long start, long stamp, Fence copied) {
    }

    SendingRing(RingNote note, Memory.Shared memory, int pieceBytes) {
        this.note = note;
        this.memory = memory;
        this.pieceBytes = pieceBytes;
        this.positions = new RingPositions(note.position(), memory.byteCount());
    }

    /**
     * Returns the size of the next piece of a message with {@code left} bytes, at most the free space; 0 if the ring is
     * full.
     */
    public int room(long left) {
        return positions.room((int) Math.min(left, pieceBytes));
    }

    /**
     * Begins to copy a piece of {@link #room} bytes of a complete tensor.
     *
     * @return false, without a copy, if the tensor must go through the host
     * @throws RuntimeException the engine's exception if it cannot read the tensor
     */
    public boolean begin(M message, Engine engine, Tensor tensor, long offset, int length) {
        Optional<Fence> copied = engine.toShared(tensor, offset, length, memory, positions.start());
        if (copied.isEmpty()) {
            return false;
        }
        long start = positions.position();
        long stamp = Stamp.of(note.number(), positions.advance(length));
        inFlight.add(new Piece<>(message, offset, length, start, stamp, copied.get()));
        return true;
    }

    /** Returns whether a piece waits for its copy or its frame. */
    public boolean isBusy() {
        return !inFlight.isEmpty();
    }

    /** Returns the piece of the next frame, copied or not; null if the ring has no piece. */
    public Piece<M> first() {
        return inFlight.peekFirst();
    }

    /** Records that the frame of {@link #first} was sent. */
    public void left() {
        inFlight.removeFirst();
    }

    /** Forgets the pieces of some messages, after waiting until the device no longer reads their tensors. */
    public void withdraw(Predicate<M> messages) {
        for (Piece<M> piece : inFlight) {
            if (messages.test(piece.message)) {
                await(piece.copied);
            }
        }
        while (isBusy() && messages.test(inFlight.peekLast().message)) {
            positions.retreat(inFlight.removeLast().start);
        }
        // The space of pieces before others is freed together with the later ones.
        for (Iterator<Piece<M>> left = inFlight.iterator(); left.hasNext();) {
            if (messages.test(left.next().message)) {
                left.remove();
            }
        }
    }

    private static void await(Fence copied) {
        try {
            copied.await();
        } catch (RuntimeException failed) { // whatever is asked of the engine says so
            LOG.debug("a copy to a ring failed", failed);
        }
    }

    /** Ends the use of the ring; no copy may be in progress. */
    void close() {
        try {
            memory.close();
            note.close(); // the reader gives the memory back from here on
        } catch (RuntimeException | IOException failed) {
            LOG.debug("a ring of a device did not close", failed);
        }
    }
}
