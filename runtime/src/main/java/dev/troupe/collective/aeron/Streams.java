package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.agrona.MutableDirectBuffer;

/** The stream that a member writes and those of the others that it reads. One thread at a time. */
final class Streams implements AutoCloseable {
    /** Three terms of a stream lie in the driver's directory; half of one may be in flight, some thirty frames. */
    private static final String CHANNEL = "aeron:ipc?term-length=1m";
    private static final int FIRST_STREAM_ID = 100_000;
    private static final int LINE_BYTES = 64;
    private static final int FRAMES_OF_EACH_IN_A_TERM = 8;

    private final int member;
    private final int epoch;
    private final ExclusivePublication own;
    private final List<Subscription> others = new ArrayList<>();
    private final BufferClaim claim = new BufferClaim();
    private final LogMemory memory = new LogMemory();

    /**
     * Opens them; nobody need be at the other ends yet.
     *
     * @param number
     *            of the group, the same for all its members and of no other group of the driver
     */
    Streams(Aeron aeron, int number, int size, int member, int epoch) {
        this.member = member;
        this.epoch = epoch;
        int first = FIRST_STREAM_ID + number * AeronCollectives.MOST_MEMBERS;
        for (int other = 0; other < size; other++) {
            others.add(other == member ? null : aeron.addSubscription(CHANNEL, first + other));
        }
        this.own = aeron.addExclusivePublication(CHANNEL, first + member);
    }

    /**
     * The most bytes of payload in a frame, whole elements of every type: so few that several frames for each of so many
     * members are in flight, without which members could wait for each other in a circle.
     */
    int mostPayload(int size) {
        int room = Math.min(own.maxPayloadLength() - SegmentFrame.HEADER_BYTES,
                own.termBufferLength() / FRAMES_OF_EACH_IN_A_TERM / size);
        return room - room % LINE_BYTES;
    }

    /** Sends a frame with a part of memory; false where the others have not read enough yet. */
    boolean send(SegmentFrame.Kind kind, long sequence, Call call, MemorySegment source, long at, int bytes,
            long offset,
            int to) {
        if (!claim(bytes)) {
            return false;
        }
        MutableDirectBuffer buffer = claim.buffer();
        SegmentFrame.write(buffer, claim.offset(), kind, epoch, sequence, call, call.root(), offset, to);
        if (bytes > 0) {
            MemorySegment.copy(source, at, memory.of(buffer),
                    LogMemory.position(buffer, claim.offset() + SegmentFrame.HEADER_BYTES), bytes);
        }
        claim.commit();
        return true;
    }

    /** Tells the others why this member is at an end with them, if they can be told now. */
    void sendEnd(long sequence, Call call, String why, int culprit) {
        byte[] text = why.getBytes(StandardCharsets.UTF_8);
        int bytes = Math.min(text.length, own.maxPayloadLength() - SegmentFrame.HEADER_BYTES);
        if (claim(bytes)) {
            SegmentFrame.write(claim.buffer(), claim.offset(), SegmentFrame.Kind.END, epoch, sequence, call, culprit, 0,
                    SegmentFrame.FOR_ALL);
            claim.buffer().putBytes(claim.offset() + SegmentFrame.HEADER_BYTES, text, 0, bytes);
            claim.commit();
        }
    }

    private boolean claim(int payloadBytes) {
        long position = own.tryClaim(SegmentFrame.HEADER_BYTES + payloadBytes, claim);
        if (position == Publication.CLOSED || position == Publication.MAX_POSITION_EXCEEDED) {
            throw new IllegalStateException(position == Publication.CLOSED
                    ? "the stream of member " + member + " is closed: its client has lost the media driver"
                    : "the stream of member " + member + " has carried all the bytes that Aeron can number");
        }
        return position > 0;
    }

    /** Hands at most one frame of another member on; returns whether there was one. */
    boolean receive(int from, FragmentHandler handler) {
        return others.get(from).poll(handler, 1) > 0;
    }

    @Override
    public void close() {
        own.close();
        others.forEach(other -> {
            if (other != null) {
                other.close();
            }
        });
    }
}
