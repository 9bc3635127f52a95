package dev.troupe.collective.peer;

import dev.troupe.collective.Call;
import dev.troupe.collective.CheckedGroup;
import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.Membership;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A member of a group that exchanges frames with the others through streams and connections.
 *
 * <p>Each member writes its frames in the order in which all need them, and handles the others' frames in place. It takes no
 * frame of a later collective, so streams need no list of waiting members. All members write and read in the order of
 * segments, so the slowest member always finds its next frame.
 *
 * <p>The first collective waits until all members have reached each other, so that one thread can join the groups of several
 * ranks in turn.
 */
final class PeerMember extends CheckedGroup implements Source.Taker {
    /** The interval of a waiting member's join frames; they may stay unread in its stream up to the deadline. */
    private static final long JOIN_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Membership membership;
    private final int epoch;
    private final Ways ways;
    private final Exchange exchange;
    private final IntPredicate isWaitedFor;
    /** For each member, the set of members in its last join frame, as bits. */
    private final long[] seenBy;
    private Call call = new Call();
    private long sequence;
    private long progressNanos;
    /** The reason why the group has ended, or null. */
    private String end;
    private OptionalInt culprit = OptionalInt.empty();
    private RuntimeException cause;
    private boolean isJoined;
    private volatile boolean isLeaving;
    private volatile boolean isClosed;

    /** The opening of a member's ways to the others. */
    interface Opening {
        Ways open(Source.Taker taker);
    }

    PeerMember(Membership membership, int member, int epoch, Opening opening) {
        super(membership.size(), member);
        this.membership = membership;
        this.epoch = epoch;
        this.ways = opening.open(this);
        this.exchange = new Exchange(membership.size(), member, ways);
        this.isWaitedFor = exchange::waitsFor;
        this.seenBy = new long[membership.size()];
    }

    /** Returns whether the member has left the group. Any thread. */
    boolean hasLeft() {
        return isClosed;
    }

    Ways ways() {
        return ways;
    }

    /**
     * Sends join frames until this member has reached all others and they have reached it. From then on each reads every
     * frame of the others.
     */
    private void join() {
        long all = -1L >>> Long.SIZE - size();
        long own = 1L << member();
        IntPredicate isAbsent = other -> (seenBy[other] & own) == 0;
        seenBy[member()] = all;
        long sent = 0;
        long lastSent = 0;
        long sentNanos = System.nanoTime();
        while (sent != all || IntStream.range(0, size()).anyMatch(isAbsent)) {
            long known = LongStream.of(seenBy).map(Long::bitCount).sum();
            receive(_ -> true);
            long seen = IntStream.range(0, size()).filter(other -> seenBy[other] != 0).mapToLong(other -> 1L << other)
                    .sum();
            if (seen != lastSent || System.nanoTime() - sentNanos >= JOIN_INTERVAL_NANOS) {
                lastSent = seen;
                sentNanos = System.nanoTime();
                sent = ways.sendJoin(call, seen) ? seen : sent;
            }
            // Repeated join frames of others are no progress.
            rest(LongStream.of(seenBy).map(Long::bitCount).sum() > known, isAbsent);
        }
        isJoined = true;
    }

    @Override
    protected synchronized void perform(Call next, MemorySegment source, MemorySegment target) {
        if (end != null) {
            throw ended();
        }
        call = next;
        if (size() == 1) {
            MemorySegment.copy(source, 0, target, 0, target.byteSize());
            return;
        }
        try {
            progressNanos = System.nanoTime();
            if (!isJoined) {
                join();
            }
            exchange(source, target);
        } catch (IllegalStateException failure) {
            fail(membership.describe(member()) + " failed: " + failure.getMessage(), OptionalInt.of(member()), failure);
            throw ended();
        }
    }

    private void exchange(MemorySegment source, MemorySegment target) {
        progressNanos = System.nanoTime();
        exchange.begin(call, source, target, sequence);
        while (true) {
            boolean moved = exchange.send();
            boolean isFlushed = ways.flush();
            if (isFlushed && exchange.isDone()) {
                break;
            }
            moved |= receive(isWaitedFor);
            rest(moved, isWaitedFor);
        }
        sequence++;
    }

    private boolean receive(IntPredicate isAwaited) {
        boolean moved = false;
        for (int other = 0; other < size(); other++) {
            moved |= other != member()
                    && (isAwaited.test(other) ? ways.receive(other) : ways.readAhead(other));
        }
        return moved;
    }

    @Override
    public boolean take(int from, SegmentFrame frame, MemorySegment memory, long at, boolean isPlaced) {
        if (frame.epoch() < epoch) {
            return true;
        }
        // Caught here, since Aeron would log an exception of a handler and continue.
        try {
            return takeOfEpoch(from, frame, memory, at, isPlaced);
        } catch (RuntimeException failure) {
            fail(membership.describe(from) + " sent what does not fit: " + failure.getMessage(),
                    OptionalInt.of(from), failure);
            return true;
        }
    }

    private boolean takeOfEpoch(int from, SegmentFrame frame, MemorySegment memory, long at, boolean isPlaced) {
        if (frame.epoch() > epoch) {
            overtaken(frame.epoch());
            return true;
        }
        return switch (frame.kind()) {
            case JOIN -> {
                seenBy[from] |= frame.offset() | 1L << from;
                yield true;
            }
            case END -> {
                fail(frame.payloadText(), culprit(frame.root()), null);
                yield true;
            }
            case CALL, PART, RESULT -> {
                if (!isJoined) {
                    // The frame is for a later call; its sender has reached all members, and they have reached it.
                    seenBy[from] = seenBy[member()];
                    yield false;
                }
                // Frames for other members may be left from the collective before.
                if (frame.sequence() == sequence && frame.isFor(member())) {
                    takeOfCollective(from, frame, memory, at, isPlaced);
                }
                yield true;
            }
        };
    }

    private void takeOfCollective(int from, SegmentFrame frame, MemorySegment memory, long at, boolean isPlaced) {
        switch (frame.kind()) {
            case CALL -> {
                if (!frame.call().matches(call)) {
                    int first = Math.min(from, member());
                    fail(membership.describe(first) + " calls " + (first == from ? frame.call() : call) + ", but "
                            + membership.describe(from + member() - first) + " calls "
                            + (first == from ? call : frame.call()), OptionalInt.empty(), null);
                }
                exchange.called(from);
            }
            case PART -> exchange.part(from, frame.offset(), memory, at, frame.payloadBytes());
            case RESULT -> {
                if (!isPlaced) {
                    exchange.copy(frame.offset(), memory, at, frame.payloadBytes());
                }
                exchange.result(from, frame.payloadBytes());
            }
            case JOIN, END -> throw new IllegalStateException(frame.kind() + " is of no collective");
        }
    }

    @Override
    public MemorySegment place(int from, SegmentFrame frame) {
        boolean isOfCollective = end == null && isJoined && frame.epoch() == epoch && frame.sequence() == sequence;
        return isOfCollective && frame.kind() == SegmentFrame.Kind.RESULT && frame.isFor(member())
                ? exchange.place(from, frame.offset(), frame.payloadBytes())
                : MemorySegment.NULL;
    }

    @Override
    public void lost(int from, String why) {
        fail(membership.describe(from) + " cannot be received: " + why, OptionalInt.empty(), null);
    }

    @Override
    public void overtaken(int itsEpoch) {
        fail("epoch " + itsEpoch + " has begun", OptionalInt.empty(), null);
    }

    private static OptionalInt culprit(int code) {
        return code == SegmentFrame.FOR_ALL ? OptionalInt.empty() : OptionalInt.of(code);
    }

    /** Rests if no frame has moved; throws if the group has ended or the deadline has passed. */
    private void rest(boolean moved, IntPredicate isAwaited) {
        long now = System.nanoTime();
        if (moved) {
            progressNanos = now;
        } else if (now - progressNanos >= membership.deadline().toNanos()) {
            failOfAbsence(isAwaited);
        }
        if (Thread.currentThread().isInterrupted()) {
            fail(membership.describe(member()) + " was interrupted", OptionalInt.of(member()), null);
        }
        if (isLeaving) {
            failOfLeaving();
        }
        if (!moved && ways.isClosed()) {
            fail(membership.describe(member()) + " has lost its media driver or its connections",
                    OptionalInt.of(member()), null);
        }
        if (end != null) {
            throw ended();
        }
        ways.rest(moved);
    }

    private void failOfAbsence(IntPredicate isAwaited) {
        List<Integer> absent = IntStream.range(0, size()).filter(other -> other != member() && isAwaited.test(other))
                .boxed().toList();
        fail(membership.describeAbsence(absent), absent.stream().mapToInt(Integer::intValue).findFirst(), null);
    }

    /** Ends the group for the first reason, and sends it to the others. */
    private void fail(String why, OptionalInt whose, RuntimeException failure) {
        if (end == null) {
            end = why;
            culprit = whose;
            cause = failure;
            if (ways.isClosed()) {
                return;
            }
            ways.sendEnd(sequence, call, why, whose.orElse(SegmentFrame.FOR_ALL));
        }
    }

    private CollectiveException ended() {
        return new CollectiveException(membership.describe(member()) + " of " + membership.describe() + ", epoch "
                + epoch + ", at collective " + sequence + ", " + call + ": " + end, culprit, cause);
    }

    private void failOfLeaving() {
        fail(membership.describe(member()) + " has left", OptionalInt.of(member()), null);
    }

    @Override
    public void close() {
        // A call on another thread sees this, ends and releases the lock.
        isLeaving = true;
        ways.wake();
        leave();
    }

    private synchronized void leave() {
        if (!isClosed) {
            isClosed = true;
            failOfLeaving();
            ways.close();
        }
    }
}
