package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.WholeFrame;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * The connection to another member and from it. A large payload is written from its own memory; a result is read into its
 * own, and a part to be reduced into memory of this object, where it waits for its turn.
 */
final class SocketPeer implements Route, Source {
    private final int other;
    private final Line line;
    private final Taker taker;
    private final SegmentWriter writer = new SegmentWriter();
    private final SegmentFrame frame = new SegmentFrame();
    private final WholeFrame arriving;
    /** The connection on which a frame has begun to leave, or null. */
    private FrameStream begunOn;
    /** A connection that takes no bytes any more, and is read to its end: the other member may have said why. */
    private FrameStream endingOn;

    /**
     * @param mostPayload the most bytes of a frame's payload
     */
    SocketPeer(int other, Line line, int mostPayload, Taker taker) {
        this.other = other;
        this.line = line;
        this.taker = taker;
        this.arriving = new WholeFrame(SegmentFrame.HEADER_BYTES, mostPayload, this::onLost, this::place);
    }

    private void onLost(long from, long to) {
        taker.lost(other, "the connection broke, and lost " + from + " frames from there and " + to + " to there");
    }

    private MemorySegment place(WholeFrame header) {
        return frame.wrap(header.buffer(), 0, header.length()) ? taker.place(other, frame) : MemorySegment.NULL;
    }

    /** Returns the connection, or null where there is none; one that has become ready takes the place of any before. */
    private FrameStream stream() {
        line.overtakenBy().ifPresent(taker::overtaken);
        line.renew();
        return line.stream();
    }

    private void endsOn(FrameStream stream) {
        begunOn = null;
        endingOn = stream;
    }

    @Override
    public boolean put(SegmentFrame.Kind kind, int epoch, long sequence, Call call, int root, MemorySegment source,
            long at, int bytes, long offset, int to) {
        FrameStream stream = stream();
        if (stream == null || stream == endingOn) {
            return false;
        }
        try {
            if (stream != begunOn) { // a frame that had begun on another connection begins again
                begunOn = null;
                if (!hasRoom(stream)) {
                    return false;
                }
                int header = stream.begin(SegmentFrame.HEADER_BYTES, bytes);
                writer.write(stream.buffer(), header, kind, epoch, sequence, call, root, offset, to);
                stream.seal(SegmentFrame.HEADER_BYTES);
                if (bytes <= FrameStream.MOST_COPIED) {
                    stream.commitCopy(SegmentFrame.HEADER_BYTES, source, at, bytes);
                    return true;
                }
                stream.commit(SegmentFrame.HEADER_BYTES, source.asSlice(at, bytes), false);
                begunOn = stream;
            }
            boolean isGone = stream.push();
            begunOn = isGone ? null : stream;
            return isGone;
        } catch (IOException failure) {
            endsOn(stream);
            return false;
        }
    }

    private static boolean hasRoom(FrameStream stream) throws IOException {
        if (!stream.hasRoom()) {
            stream.flush();
        }
        return stream.hasRoom();
    }

    @Override
    public boolean putEnd(int epoch, long sequence, Call call, int root, MemorySegment text) {
        FrameStream stream = line.stream();
        try {
            if (stream == null || stream == endingOn) {
                return true;
            }
            if (stream == begunOn) { // the memory is its owner's from now on
                stream.withdraw();
                begunOn = null;
            }
            boolean isGone = stream.push() && put(SegmentFrame.Kind.END, epoch, sequence, call, root, text, 0,
                    (int) Math.min(text.byteSize(), FrameStream.MOST_COPIED), 0, SegmentFrame.FOR_ALL);
            if (isGone) {
                flush();
            }
            return isGone;
        } catch (IOException failure) {
            endsOn(stream);
            return true;
        }
    }

    @Override
    public boolean flush() {
        FrameStream stream = line.stream();
        if (stream == null || stream == endingOn) {
            return true; // what is lost with a connection is counted when there is another
        }
        try {
            return stream.flush();
        } catch (IOException failure) {
            endsOn(stream);
            return true;
        }
    }

    @Override
    public boolean receive() {
        boolean moved = readAhead();
        if (arriving.isHere()) {
            boolean isDone = !frame.wrap(arriving.buffer(), 0, arriving.length())
                    || taker.take(other, frame, arriving.memory(), frame.payloadAt(), arriving.isPlaced());
            if (isDone) {
                arriving.taken();
                return true;
            }
        }
        return moved;
    }

    @Override
    public boolean readAhead() {
        FrameStream stream = stream();
        if (stream == null || arriving.isHere()) {
            return false;
        }
        try {
            return arriving.readFrom(stream);
        } catch (IOException failure) {
            begunOn = null;
            endingOn = null;
            line.broken(failure);
            return true;
        }
    }

    /** Says to the selector whether frames can be read. */
    void watch() {
        if (line.stream() != null) {
            line.stream().watchData(!arriving.isHere());
        }
    }

    @Override
    public boolean isClosed() {
        return false; // a connection that breaks is made again
    }

    @Override
    public void close() {
        line.close();
    }
}
