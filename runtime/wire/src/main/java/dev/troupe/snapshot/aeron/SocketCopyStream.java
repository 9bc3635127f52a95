package dev.troupe.snapshot.aeron;

import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.WholeFrame;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The connection to another process of another machine. A frame waits in memory of this object until the kernel has it.
 * Where the connection breaks, the copy under way has to begin again, since its receiver has gone with it.
 */
final class SocketCopyStream implements CopyStream {
    /** The most bytes of a payload: 0.05 ms at 3 GB/s. */
    static final int MOST_PAYLOAD = 128 << 10;

    private final Line line;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(CopyFrame.HEADER_BYTES + MOST_PAYLOAD);
    private final UnsafeBuffer frame = new UnsafeBuffer(bytes);
    private final MemorySegment memory = MemorySegment.ofBuffer(bytes);
    /** The receiver sends nothing but the number of its frames. */
    private final WholeFrame answer = new WholeFrame(CopyFrame.HEADER_BYTES, 0, (_, _) -> {
    }, _ -> MemorySegment.NULL);
    private int payloadBytes;
    private boolean isLeaving;
    /** Whether a connection has broken since the last frame was begun. */
    private boolean hasBroken;

    SocketCopyStream(Line line) {
        this.line = line;
    }

    private void broken(IOException failure) {
        hasBroken = true;
        isLeaving = false;
        line.broken(failure);
    }

    @Override
    public boolean isConnected() {
        return line.stream() != null;
    }

    @Override
    public int mostPayload() {
        return MOST_PAYLOAD;
    }

    @Override
    public Room begin(int payload) {
        flush();
        if (hasBroken || line.stream() == null) {
            hasBroken = false;
            return Room.UNHEARD;
        }
        payloadBytes = payload;
        return isLeaving || !line.stream().hasRoom() ? Room.LATER : Room.THERE;
    }

    @Override
    public MutableDirectBuffer buffer() {
        return frame;
    }

    @Override
    public int offset() {
        return 0;
    }

    @Override
    public void commit() {
        FrameStream stream = line.stream();
        int at = stream.begin(CopyFrame.HEADER_BYTES, payloadBytes);
        stream.buffer().putBytes(at, frame, 0, CopyFrame.HEADER_BYTES);
        stream.seal(CopyFrame.HEADER_BYTES);
        if (payloadBytes <= FrameStream.MOST_COPIED) {
            stream.commitCopy(CopyFrame.HEADER_BYTES, memory, CopyFrame.HEADER_BYTES, payloadBytes);
        } else {
            stream.commit(CopyFrame.HEADER_BYTES, memory.asSlice(CopyFrame.HEADER_BYTES, payloadBytes), false);
            isLeaving = true;
        }
        flush();
    }

    @Override
    public void abort() {
        // A frame is on its way only from its commit on.
    }

    @Override
    public int flush() {
        int work = line.renew() ? 1 : 0;
        if (line.stream() == null) {
            return work;
        }
        try {
            answer.readFrom(line.stream());
            line.stream().flush();
            if (isLeaving && line.stream().push()) {
                isLeaving = false;
                work++;
            }
        } catch (IOException failure) {
            broken(failure);
            work++;
        }
        return work;
    }

    @Override
    public void close() {
        line.close();
    }
}
