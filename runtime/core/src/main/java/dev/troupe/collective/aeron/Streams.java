package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import io.aeron.Aeron;
import io.aeron.ChannelUriStringBuilder;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.ControlledFragmentHandler;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.agrona.MutableDirectBuffer;

/**
 * The streams that a member writes, one for each channel on which others read it, and the streams of the others that it
 * reads. One thread at a time.
 */
final class Streams implements AutoCloseable {
    /** Three terms of a stream lie in the driver's directory; half of one may be in flight, some thirty frames. */
    static final int TERM_LENGTH = 1 << 20;
    private static final int FIRST_STREAM_ID = 100_000;
    private static final int LINE_BYTES = 64;
    private static final int FRAMES_OF_EACH_IN_A_TERM = 8;

    private final int member;
    private final int epoch;
    private final List<Route> routes;
    /** For each member the route to it; null for this one. */
    private final List<Route> routeTo = new ArrayList<>();
    private final List<Subscription> others = new ArrayList<>();
    private final BufferClaim claim = new BufferClaim();
    /** The number of routes on which the current frame for all has been sent. */
    private int routesGone;

    /** One stream, with its memory. */
    private record Route(ExclusivePublication publication, LogMemory memory) {
        int mostPayload() {
            return publication.maxPayloadLength() - SegmentFrame.HEADER_BYTES;
        }
    }

    /**
     * Opens the streams; the other members need not have opened theirs.
     *
     * @param channels
     *            the channels between members
     * @param number
     *            number of the group, the same for all its members and of no other group of their drivers
     * @throws io.aeron.exceptions.RegistrationException
     *             if a channel cannot be opened
     */
    Streams(Aeron aeron, PairChannels channels, int number, int size, int member, int epoch) {
        this.member = member;
        this.epoch = epoch;
        int first = FIRST_STREAM_ID + number * AeronCollectives.MOST_MEMBERS;
        Map<String, Route> byChannel = new LinkedHashMap<>();
        for (int other = 0; other < size; other++) {
            boolean isOther = other != member;
            others.add(isOther ? aeron.addSubscription(channels.channel(other, member), first + other) : null);
            routeTo.add(isOther
                    ? byChannel.computeIfAbsent(channels.channel(member, other),
                            channel -> open(aeron, channel, first + member))
                    : null);
        }
        this.routes = List.copyOf(byChannel.values());
    }

    private static Route open(Aeron aeron, String channel, int streamId) {
        String withTerms = new ChannelUriStringBuilder(channel).termLength(TERM_LENGTH).build();
        return new Route(aeron.addExclusivePublication(withTerms, streamId), new LogMemory());
    }

    /**
     * Returns the most bytes of payload in a frame, whole elements of every type: so few that several frames for each
     * of {@code size} members fit in flight, since otherwise members could wait for each other in a circle.
     */
    int mostPayload(int size) {
        int room = TERM_LENGTH / FRAMES_OF_EACH_IN_A_TERM / size;
        for (Route route : routes) {
            room = Math.min(room, route.mostPayload());
        }
        return room - room % LINE_BYTES;
    }

    /**
     * Sends a frame with a part of memory; returns false where some of the others have not read enough yet. A frame for
     * all may have been sent to some of them then, so the caller must repeat the call before it sends any other frame.
     */
    boolean send(SegmentFrame.Kind kind, long sequence, Call call, MemorySegment source, long at, int bytes,
            long offset, int to) {
        if (to != SegmentFrame.FOR_ALL) {
            return put(routeTo.get(to), kind, sequence, call, call.root(), source, at, bytes, offset, to);
        }
        while (routesGone < routes.size()) {
            if (!put(routes.get(routesGone), kind, sequence, call, call.root(), source, at, bytes, offset, to)) {
                return false;
            }
            routesGone++;
        }
        routesGone = 0;
        return true;
    }

    /**
     * Sends the set of members that this member has heard to the others, as far as their streams have room; returns
     * whether it went to all.
     */
    boolean sendJoin(Call call, long heard) {
        boolean isToldToAll = true;
        for (Route route : routes) {
            isToldToAll &= put(route, SegmentFrame.Kind.JOIN, 0, call, call.root(), MemorySegment.NULL, 0, 0, heard,
                    SegmentFrame.FOR_ALL);
        }
        return isToldToAll;
    }

    /** Sends the others the reason why this member has ended the group, as far as their streams have room. */
    void sendEnd(long sequence, Call call, String why, int culprit) {
        MemorySegment text = MemorySegment.ofArray(why.getBytes(StandardCharsets.UTF_8));
        for (Route route : routes) {
            if (!route.publication().isClosed()) {
                put(route, SegmentFrame.Kind.END, sequence, call, culprit, text, 0,
                        (int) Math.min(text.byteSize(), route.mostPayload()), 0, SegmentFrame.FOR_ALL);
            }
        }
    }

    private boolean put(Route route, SegmentFrame.Kind kind, long sequence, Call call, int root, MemorySegment source,
            long at, int bytes, long offset, int to) {
        if (!claim(route.publication(), bytes)) {
            return false;
        }
        MutableDirectBuffer buffer = claim.buffer();
        SegmentFrame.write(buffer, claim.offset(), kind, epoch, sequence, call, root, offset, to);
        if (bytes > 0) {
            MemorySegment.copy(source, at, route.memory().of(buffer),
                    LogMemory.position(buffer, claim.offset() + SegmentFrame.HEADER_BYTES), bytes);
        }
        claim.commit();
        return true;
    }

    private boolean claim(ExclusivePublication publication, int payloadBytes) {
        long position = publication.tryClaim(SegmentFrame.HEADER_BYTES + payloadBytes, claim);
        if (position == Publication.CLOSED || position == Publication.MAX_POSITION_EXCEEDED) {
            throw new IllegalStateException(position == Publication.CLOSED
                    ? "the stream of member " + member + " is closed: its client has lost the media driver"
                    : "the stream of member " + member + " has carried all the bytes that Aeron can number");
        }
        return position > 0;
    }

    /** Passes at most one frame of another member on; returns whether there was one, and it was taken. */
    boolean receive(int from, ControlledFragmentHandler handler) {
        return others.get(from).controlledPoll(handler, 1) > 0;
    }

    /** Whether the client is closed, so that no frame will be sent or received. */
    boolean isClosed() {
        return !routes.isEmpty() && routes.getFirst().publication().isClosed();
    }

    @Override
    public void close() {
        routes.forEach(route -> route.publication().close());
        others.forEach(other -> {
            if (other != null) {
                other.close();
            }
        });
    }
}
