package dev.troupe.collective.peer;

import dev.troupe.collective.Call;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.LineName;
import dev.troupe.wire.Rest;
import dev.troupe.wire.StreamIds;
import dev.troupe.wire.way.FrameWay;
import dev.troupe.wire.way.Outcome;
import dev.troupe.wire.way.StreamWay;
import io.aeron.Aeron;
import io.aeron.ChannelUriStringBuilder;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
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
 * The ways of a member to the others: one stream for each channel with readers, with the others' streams on it, and a
 * connection to each member on another machine. One thread at a time.
 */
final class Ways implements AutoCloseable {
    /** The driver's directory has three terms of each stream. Half a term may be in flight, some thirty frames. */
    static final int TERM_LENGTH = 1 << 20;
    private static final int LINE_BYTES = 64;
    private static final int FRAMES_OF_EACH_IN_A_TERM = 8;
    /** The largest payload if any way is a stream: a block of a level 1 cache, reduced in place. */
    private static final int STREAM_PAYLOAD = 8 << 10;
    /** The largest payload if all ways are connections: it fits a level 2 cache and saves system calls. */
    private static final int CONNECTION_PAYLOAD = 128 << 10;
    private static final int MEMBER_BITS = 6;
    // A thread that waits for a stream is never woken, so it polls and sleeps in between: with more threads than cores, a
    // thread that spins or yields delays the threads for which it waits.
    private static final long LEAST_PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(1);
    private static final long MOST_PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /** The longest rest of a thread with connections only, which wake it. */
    private static final long MOST_WOKEN_MILLIS = 10;
    /** Longer than a reading member computes between two polls of its streams. */
    private static final long LONGEST_END_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** Polls of connections before a rest, some 10 microseconds, since an answer may be about to arrive. */
    private static final int LOOKS = 10;

    private final int member;
    private final int epoch;
    private final List<FrameWay> ways = new ArrayList<>();
    /** The way to each member; null for this one. */
    private final List<FrameWay> wayTo = new ArrayList<>();
    private final List<Source> others = new ArrayList<>();
    private final List<ConnectionSource> connected = new ArrayList<>();
    private final SegmentFrame frame = new SegmentFrame();
    private final Rest rest = Rest.open();
    private final IdleStrategy idle = new BackoffIdleStrategy(1, 1, LEAST_PARK_NANOS, MOST_PARK_NANOS);
    private final int mostPayload;
    private int looks;
    /** For each way, whether the current frame for all was sent on it. */
    private final boolean[] isGone;
    private volatile boolean isEnded;

    /**
     * Opens the ways; the others may open theirs later.
     *
     * @param aeron used only if a pair has a stream
     * @param connections used only if a pair has a connection
     * @param number the number of the group, unique among the groups of the members' nodes
     * @throws io.aeron.exceptions.RegistrationException if a channel cannot be opened
     */
    Ways(Supplier<Aeron> aeron, Supplier<Connections> connections, PairChannels channels, int number, int size,
            int member, int epoch, Source.Taker taker) {
        this.member = member;
        this.epoch = epoch;
        int pairs = (int) IntStream.range(0, size * size)
                .filter(pair -> pair / size != pair % size
                        && channels.connectedNode(pair / size, pair % size).isPresent())
                .count();
        boolean areAllConnected = pairs == size * (size - 1);
        int mostOfConnection = areAllConnected ? CONNECTION_PAYLOAD : STREAM_PAYLOAD;
        Map<String, FrameWay> byChannel = new LinkedHashMap<>();
        try {
            for (int other = 0; other < size; other++) {
                OptionalInt node = other == member ? OptionalInt.empty() : channels.connectedNode(member, other);
                if (other == member) {
                    others.add(null);
                    wayTo.add(null);
                } else if (node.isPresent()) {
                    Line way = new Line(connections.get(),
                            new LineName(node.getAsInt(), LineName.Purpose.GROUP, number(number, member, other)), epoch,
                            rest,
                            mostOfConnection, true);
                    ConnectionSource source = new ConnectionSource(other, way, mostOfConnection, taker);
                    connected.add(source);
                    others.add(source);
                    wayTo.add(way);
                } else {
                    others.add(new StreamSource(
                            aeron.get().addSubscription(channels.channel(other, member),
                                    StreamIds.ofMember(number, other)),
                            other, taker));
                    wayTo.add(byChannel.computeIfAbsent(channels.channel(member, other),
                            channel -> open(aeron.get(), channel, StreamIds.ofMember(number, member))));
                }
            }
        } catch (RuntimeException | Error failure) {
            gather(byChannel.values());
            close();
            throw failure;
        }
        gather(byChannel.values());
        this.isGone = new boolean[ways.size()];
        this.mostPayload = areAllConnected && pairs > 0 ? CONNECTION_PAYLOAD : mostPayload(size, byChannel.values());
    }

    private void gather(Collection<FrameWay> streams) {
        ways.addAll(streams);
        wayTo.stream().filter(Line.class::isInstance).forEach(ways::add);
    }

    private static long number(int group, int member, int other) {
        return ((long) group << MEMBER_BITS | Math.min(member, other)) << MEMBER_BITS | Math.max(member, other);
    }

    private static FrameWay open(Aeron aeron, String channel, int streamId) {
        String withTerms = new ChannelUriStringBuilder(channel).termLength(TERM_LENGTH).build();
        return new StreamWay(aeron.addExclusivePublication(withTerms, streamId));
    }

    /**
     * Returns the largest payload, a multiple of a cache line. It is so small that several frames for each of {@code size}
     * members fit in flight, since otherwise members could wait for each other in a circle. Members without a stream get the
     * same size, since frames within a machine can hold {@link #STREAM_PAYLOAD}.
     */
    private static int mostPayload(int size, Iterable<FrameWay> streams) {
        int room = Math.min(STREAM_PAYLOAD, TERM_LENGTH / FRAMES_OF_EACH_IN_A_TERM / size);
        for (FrameWay stream : streams) {
            room = Math.min(room, stream.maxPayload(SegmentFrame.HEADER_BYTES));
        }
        return room - room % LINE_BYTES;
    }

    /** Returns the largest payload of a frame in bytes, equal for all members. */
    int mostPayload() {
        return mostPayload;
    }

    /**
     * Sends a frame with a part of memory; returns false if a receiver has read too little. A frame for all may then have
     * reached some of them, so the caller must repeat the call before it sends any other frame.
     */
    boolean send(SegmentFrame.Kind kind, long sequence, Call call, MemorySegment source, long at, int bytes,
            long offset, int to) {
        if (to != SegmentFrame.FOR_ALL) {
            return put(wayTo.get(to), kind, sequence, call, call.root(), source, at, bytes, offset, to);
        }
        boolean isSentToAll = true;
        for (int way = 0; way < isGone.length; way++) {
            isGone[way] = isGone[way]
                    || put(ways.get(way), kind, sequence, call, call.root(), source, at, bytes, offset, to);
            isSentToAll &= isGone[way];
        }
        if (isSentToAll) {
            Arrays.fill(isGone, false);
        }
        return isSentToAll;
    }

    private boolean put(FrameWay way, SegmentFrame.Kind kind, long sequence, Call call, int root,
            MemorySegment source, long at, int bytes, long offset, int to) {
        if (way.isWriting()) {
            Outcome pushed = way.push();
            if (pushed != Outcome.NOT_CONNECTED) { // a frame that had begun on another connection begins again
                return pushed == Outcome.ACCEPTED;
            }
        }
        return switch (way.tryClaim(SegmentFrame.HEADER_BYTES, bytes)) {
            case ACCEPTED -> {
                frame.write(way.buffer(), way.offset(), kind, epoch, sequence, call, root, offset, to);
                yield way.commit(source, at) == Outcome.ACCEPTED;
            }
            case BACK_PRESSURED, NOT_CONNECTED, ADMIN_ACTION -> false;
            case CLOSED -> throw new IllegalStateException(
                    "the stream of member " + member + " is closed: its client has lost the media driver");
            case MAX_POSITION_EXCEEDED -> throw new IllegalStateException(
                    "the stream of member " + member + " has carried all the bytes that Aeron can number");
        };
    }

    /**
     * Sends the set of members that have reached this one to the others, as far as their ways have space; returns whether
     * all got it.
     */
    boolean sendJoin(Call call, long seen) {
        boolean isSentToAll = true;
        for (FrameWay way : ways) {
            isSentToAll &= put(way, SegmentFrame.Kind.JOIN, 0, call, call.root(), MemorySegment.NULL, 0, 0, seen,
                    SegmentFrame.FOR_ALL);
            way.flush();
        }
        return isSentToAll;
    }

    /**
     * Sends the others the reason why this member has ended the group. A way may be full of frames that another member is
     * about to read; without the reason it would wait until its deadline. So this waits for space, up to a limit or an
     * interrupt.
     */
    void sendEnd(long sequence, Call call, String why, int culprit) {
        MemorySegment text = MemorySegment.ofArray(why.getBytes(StandardCharsets.UTF_8));
        List<FrameWay> unsent = new ArrayList<>(ways);
        long sinceNanos = System.nanoTime();
        unsent.removeIf(way -> way.isClosed() || putEnd(way, sequence, call, culprit, text));
        while (!unsent.isEmpty() && System.nanoTime() - sinceNanos < LONGEST_END_NANOS
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(MOST_PARK_NANOS);
            unsent.removeIf(way -> way.isClosed() || putEnd(way, sequence, call, culprit, text));
        }
    }

    /** Sends the last frame of this member, in place of an incomplete one; returns false if the way has no space yet. */
    private boolean putEnd(FrameWay way, long sequence, Call call, int culprit, MemorySegment text) {
        way.withdraw();
        int bytes = (int) Math.min(text.byteSize(), Math.min(mostPayload, STREAM_PAYLOAD));
        boolean isDone = !way.isConnected() || put(way, SegmentFrame.Kind.END, sequence, call, culprit, text, 0, bytes,
                0, SegmentFrame.FOR_ALL);
        if (isDone) {
            way.flush();
        }
        return isDone;
    }

    /** Flushes the sent frames; returns whether all have left. */
    boolean flush() {
        boolean isDone = true;
        for (FrameWay way : ways) {
            isDone &= way.flush();
        }
        return isDone;
    }

    /** Handles at most one frame of another member; returns whether bytes have arrived or a frame was taken. */
    boolean receive(int from) {
        return others.get(from).receive();
    }

    /** Reads at most one frame of another member ahead; returns whether bytes have arrived. */
    boolean readAhead(int from) {
        return others.get(from).readAhead();
    }

    /** Rests if nothing has moved, until a connection has bytes or the time is over. */
    void rest(boolean moved) {
        boolean hasStreams = connected.size() < ways.size();
        if (hasStreams) {
            idle.idle(moved ? 1 : 0);
        } else if (moved) {
            looks = 0;
        } else if (looks < LOOKS) {
            looks++;
            Thread.onSpinWait();
        } else {
            connected.forEach(ConnectionSource::watch);
            rest.untilReady(MOST_WOKEN_MILLIS);
        }
    }

    /** Ends a rest. Any thread. */
    void wake() {
        rest.wake();
    }

    /** Ends the ways: {@link #isClosed} is true from then on. Any thread. */
    void end() {
        isEnded = true;
        rest.wake();
    }

    /** Returns whether no frame can be sent or received any more. */
    boolean isClosed() {
        return isEnded || ways.stream().anyMatch(FrameWay::isClosed);
    }

    @Override
    public void close() {
        ways.forEach(FrameWay::close);
        others.forEach(other -> {
            if (other != null) {
                other.close();
            }
        });
        rest.close();
    }
}
