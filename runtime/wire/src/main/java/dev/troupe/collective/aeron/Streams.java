package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.LineName;
import dev.troupe.wire.Rest;
import dev.troupe.wire.StreamIds;
import io.aeron.Aeron;
import io.aeron.ChannelUriStringBuilder;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/**
 * The ways from a member to the others: a stream for each channel on which others read it, with the streams of the others
 * there, and a connection to each other of another machine. One thread at a time.
 */
final class Streams implements AutoCloseable {
    /** Three terms of a stream lie in the driver's directory; half of one may be in flight, some thirty frames. */
    static final int TERM_LENGTH = 1 << 20;
    private static final int LINE_BYTES = 64;
    private static final int FRAMES_OF_EACH_IN_A_TERM = 8;
    /** The most bytes of a payload where a stream is among the ways: a block of a level 1 cache, reduced in its place. */
    private static final int STREAM_PAYLOAD = 8 << 10;
    /** As {@link #STREAM_PAYLOAD} where all ways are connections: of a level 2 cache, for few calls of the kernel. */
    private static final int CONNECTION_PAYLOAD = 128 << 10;
    private static final int MEMBER_BITS = 6;
    // Nothing wakes a thread that waits for a stream, so it polls, and sleeps in between: with more threads than cores
    // a thread that spins or yields delays the others for which it waits.
    private static final long LEAST_PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(1);
    private static final long MOST_PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /** The longest rest of a thread that waits for connections alone, which wake it. */
    private static final long MOST_WOKEN_MILLIS = 10;
    /** Longer than a member that reads computes between two looks at its streams. */
    private static final long LONGEST_END_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** Looks at connections before a rest, some 10 microseconds: an answer may be on its way already. */
    private static final int LOOKS = 10;

    private final int member;
    private final int epoch;
    private final List<Route> routes = new ArrayList<>();
    /** For each member the route to it; null for this one. */
    private final List<Route> routeTo = new ArrayList<>();
    private final List<Source> others = new ArrayList<>();
    private final List<SocketPeer> peers = new ArrayList<>();
    private final Rest rest = Rest.open();
    private final IdleStrategy idle = new BackoffIdleStrategy(1, 1, LEAST_PARK_NANOS, MOST_PARK_NANOS);
    private final int mostPayload;
    private int looks;
    /** For each route whether the current frame for all has been sent there. */
    private final boolean[] isGone;
    private volatile boolean isEnded;

    /**
     * Opens the ways; the other members need not have opened theirs.
     *
     * @param aeron asked only where there are streams
     * @param connections asked only where members are connected
     * @param number number of the group, the same for all its members and of no other group of their nodes
     * @throws io.aeron.exceptions.RegistrationException if a channel cannot be opened
     */
    Streams(Supplier<Aeron> aeron, Supplier<Connections> connections, PairChannels channels, int number, int size,
            int member, int epoch, Source.Taker taker) {
        this.member = member;
        this.epoch = epoch;
        int connected = (int) IntStream.range(0, size * size)
                .filter(pair -> pair / size != pair % size
                        && channels.connectedNode(pair / size, pair % size).isPresent())
                .count();
        int mostOfSocket = connected == size * (size - 1) ? CONNECTION_PAYLOAD : STREAM_PAYLOAD;
        Map<String, AeronRoute> byChannel = new LinkedHashMap<>();
        for (int other = 0; other < size; other++) {
            OptionalInt node = other == member ? OptionalInt.empty() : channels.connectedNode(member, other);
            if (other == member) {
                others.add(null);
                routeTo.add(null);
            } else if (node.isPresent()) {
                long line = ((long) number << MEMBER_BITS | Math.min(member, other)) << MEMBER_BITS
                        | Math.max(member, other);
                SocketPeer peer = new SocketPeer(other, new Line(connections.get(),
                        new LineName(node.getAsInt(), LineName.Purpose.GROUP, line), epoch, rest), mostOfSocket, taker);
                peers.add(peer);
                others.add(peer);
                routeTo.add(peer);
            } else {
                others.add(new AeronSource(
                        aeron.get().addSubscription(channels.channel(other, member), StreamIds.ofMember(number, other)),
                        other, taker));
                routeTo.add(byChannel.computeIfAbsent(channels.channel(member, other),
                        channel -> open(aeron.get(), channel, StreamIds.ofMember(number, member), member)));
            }
        }
        routes.addAll(byChannel.values());
        routes.addAll(peers);
        this.isGone = new boolean[routes.size()];
        this.mostPayload = connected == size * (size - 1) && connected > 0
                ? CONNECTION_PAYLOAD
                : mostPayload(size, byChannel.values());
    }

    private static AeronRoute open(Aeron aeron, String channel, int streamId, int member) {
        String withTerms = new ChannelUriStringBuilder(channel).termLength(TERM_LENGTH).build();
        return new AeronRoute(aeron.addExclusivePublication(withTerms, streamId), member);
    }

    /**
     * Whole elements of every type: so few that several frames for each of {@code size} members fit in flight, since
     * otherwise members could wait for each other in a circle. Members without a stream get the same number, since a frame
     * of a machine's own streams has room for {@link #STREAM_PAYLOAD}.
     */
    private static int mostPayload(int size, Iterable<AeronRoute> streams) {
        int room = Math.min(STREAM_PAYLOAD, TERM_LENGTH / FRAMES_OF_EACH_IN_A_TERM / size);
        for (AeronRoute route : streams) {
            room = Math.min(room, route.mostPayload());
        }
        return room - room % LINE_BYTES;
    }

    /** Returns the most bytes of payload in a frame, which all members have the same. */
    int mostPayload() {
        return mostPayload;
    }

    /**
     * Sends a frame with a part of memory; returns false where some of the others have not read enough yet. A frame for
     * all may have been sent to some of them then, so the caller must repeat the call before it sends any other frame.
     */
    boolean send(SegmentFrame.Kind kind, long sequence, Call call, MemorySegment source, long at, int bytes,
            long offset, int to) {
        if (to != SegmentFrame.FOR_ALL) {
            return routeTo.get(to).put(kind, epoch, sequence, call, call.root(), source, at, bytes, offset, to);
        }
        boolean isToldToAll = true;
        for (int route = 0; route < isGone.length; route++) {
            isGone[route] = isGone[route]
                    || routes.get(route).put(kind, epoch, sequence, call, call.root(), source, at, bytes, offset, to);
            isToldToAll &= isGone[route];
        }
        if (isToldToAll) {
            Arrays.fill(isGone, false);
        }
        return isToldToAll;
    }

    /**
     * Sends the set of members that this member has heard to the others, as far as their ways have room; returns whether it
     * went to all.
     */
    boolean sendJoin(Call call, long heard) {
        boolean isToldToAll = true;
        for (Route route : routes) {
            isToldToAll &= route.put(SegmentFrame.Kind.JOIN, epoch, 0, call, call.root(), MemorySegment.NULL, 0, 0,
                    heard, SegmentFrame.FOR_ALL);
            route.flush();
        }
        return isToldToAll;
    }

    /**
     * Sends the others the reason why this member has ended the group. A way may be full of frames that another member is
     * about to read: without this frame it would wait until its deadline, and would not know the reason. So the wait for
     * room has a bound, and an interrupt ends it.
     */
    void sendEnd(long sequence, Call call, String why, int culprit) {
        MemorySegment text = MemorySegment.ofArray(why.getBytes(StandardCharsets.UTF_8));
        List<Route> unsent = new ArrayList<>(routes);
        long sinceNanos = System.nanoTime();
        unsent.removeIf(route -> route.isClosed() || route.putEnd(epoch, sequence, call, culprit, text));
        while (!unsent.isEmpty() && System.nanoTime() - sinceNanos < LONGEST_END_NANOS
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(MOST_PARK_NANOS);
            unsent.removeIf(route -> route.isClosed() || route.putEnd(epoch, sequence, call, culprit, text));
        }
    }

    /** Passes on the frames that were sent; returns whether all are on their way. */
    boolean flush() {
        boolean isDone = true;
        for (Route route : routes) {
            isDone &= route.flush();
        }
        return isDone;
    }

    /** Passes at most one frame of another member on; returns whether bytes have arrived, or a frame was taken. */
    boolean receive(int from) {
        return others.get(from).receive();
    }

    /** Reads at most one frame of another member ahead; returns whether bytes have arrived. */
    boolean readAhead(int from) {
        return others.get(from).readAhead();
    }

    /** Rests where nothing has moved; a connection ends the rest. */
    void rest(boolean moved) {
        boolean hasStreams = peers.size() < routes.size();
        if (hasStreams) {
            idle.idle(moved ? 1 : 0);
        } else if (moved) {
            looks = 0;
        } else if (looks < LOOKS) {
            looks++;
            Thread.onSpinWait();
        } else {
            peers.forEach(SocketPeer::watch);
            rest.untilReady(MOST_WOKEN_MILLIS);
        }
    }

    /** Ends a rest; any thread. */
    void wake() {
        rest.wake();
    }

    /** Ends the ways, from any thread: {@link #isClosed} from then on. */
    void end() {
        isEnded = true;
        rest.wake();
    }

    /** Whether no frame will be sent or received. */
    boolean isClosed() {
        return isEnded || routes.stream().anyMatch(Route::isClosed);
    }

    @Override
    public void close() {
        routes.forEach(Route::close);
        others.forEach(other -> {
            if (other != null) {
                other.close();
            }
        });
        rest.close();
    }
}
