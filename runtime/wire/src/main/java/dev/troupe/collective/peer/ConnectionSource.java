package dev.troupe.collective.peer;

import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.WholeFrame;
import java.lang.foreign.MemorySegment;

/**
 * The frames of another member on a connection. A part of a result is read into its place; a part to be reduced is read into
 * memory of this object until its turn.
 */
final class ConnectionSource implements Source {
    private final int from;
    private final Line line;
    private final Taker taker;
    private final SegmentFrame frame = new SegmentFrame();
    private final WholeFrame arriving;

    /** @param maxPayload the largest payload of a frame in bytes */
    ConnectionSource(int from, Line line, int maxPayload, Taker taker) {
        this.from = from;
        this.line = line;
        this.taker = taker;
        this.arriving = new WholeFrame(SegmentFrame.HEADER_BYTES, maxPayload, this::onLost, this::place);
    }

    private void onLost(long fromThere, long toThere) {
        taker.lost(from,
                "the connection broke, and lost " + fromThere + " frames from there and " + toThere + " to there");
    }

    private MemorySegment place(WholeFrame header) {
        return frame.wrap(header.buffer(), 0, header.length()) ? taker.place(from, frame) : MemorySegment.NULL;
    }

    @Override
    public boolean receive() {
        boolean moved = readAhead();
        if (arriving.isHere()) {
            boolean isDone = !frame.wrap(arriving.buffer(), 0, arriving.length())
                    || taker.take(from, frame, arriving.memory(), frame.payloadAt(), arriving.isPlaced());
            if (isDone) {
                arriving.taken();
                return true;
            }
        }
        return moved;
    }

    @Override
    public boolean readAhead() {
        line.overtakenBy().ifPresent(taker::overtaken);
        return line.poll(arriving, Integer.MAX_VALUE) > 0;
    }

    /** Sets whether the selector waits for frames. */
    void watch() {
        line.watchData(!arriving.isHere());
    }

    @Override
    public void close() {
        line.close();
    }
}
