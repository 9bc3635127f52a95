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
 * The writer's end of a ring in the memory of a device. A piece of a tensor is copied there on the device, while the
 * transport does other work; its frame may leave once the copy is done. What is in the ring and has no frame yet is
 * nobody's: a writer that dies leaves nothing that is half written to the reader.
 *
 * <p>Thread rule: the transport's thread.
 *
 * @param <M> messages
 */
public final class SendingRing<M> {
    private static final Logger LOG = LoggerFactory.getLogger(SendingRing.class);

    private final RingNote note;
    private final Memory.Shared memory;
    private final RingPositions positions;
    private final int pieceBytes;
    private final ArrayDeque<Piece<M>> underWay = new ArrayDeque<>();

    /**
     * A piece of a message on its way to the ring.
     *
     * @param offset of the piece in its message, in bytes
     * @param start the position from which on it takes room
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

    /** Returns the bytes of a piece that there is room for, of those that are left of its message; 0 if there is none. */
    public int room(long left) {
        return positions.room((int) Math.min(left, pieceBytes));
    }

    /**
     * Begins to copy a piece of {@link #room} bytes of a tensor that is written.
     *
     * @return false, and nothing is copied, if the tensor goes by way of the host
     * @throws RuntimeException the engine's exception if it cannot read the tensor
     */
    public boolean begin(M message, Engine engine, Tensor tensor, long offset, int length) {
        Optional<Fence> copied = engine.toShared(tensor, offset, length, memory, positions.start());
        if (copied.isEmpty()) {
            return false;
        }
        long start = positions.position();
        long stamp = Stamp.of(note.number(), positions.advance(length));
        underWay.add(new Piece<>(message, offset, length, start, stamp, copied.get()));
        return true;
    }

    /** Whether a piece is on its way. */
    public boolean isBusy() {
        return !underWay.isEmpty();
    }

    /** Returns the piece of the next frame, whether it is copied or not; null if there is none. */
    public Piece<M> first() {
        return underWay.peekFirst();
    }

    /** The frame of {@link #first} has left. */
    public void left() {
        underWay.removeFirst();
    }

    /** Forgets the pieces of some messages: when this returns the device does not read their tensors any more. */
    public void withdraw(Predicate<M> messages) {
        for (Piece<M> piece : underWay) {
            if (messages.test(piece.message)) {
                await(piece.copied);
            }
        }
        while (isBusy() && messages.test(underWay.peekLast().message)) {
            positions.retreat(underWay.removeLast().start);
        }
        // The room of what is before others comes back with theirs.
        for (Iterator<Piece<M>> left = underWay.iterator(); left.hasNext();) {
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

    /** Ends the use of the ring, in which nothing is on its way. */
    void close() {
        try {
            memory.close();
            note.close(); // the reader gives the memory back from here on
        } catch (RuntimeException | IOException failed) {
            LOG.debug("a ring of a device did not close", failed);
        }
    }
}
