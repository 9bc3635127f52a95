package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import dev.troupe.collective.CheckedGroup;
import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.Membership;
import io.aeron.logbuffer.FragmentHandler;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/**
 * A group as a member sees it that shares a media driver with the others.
 *
 * <p>Each member writes one stream, in the order in which all need it, and reads the others' streams frame by frame: a
 * frame is reduced or copied from where it lies in the stream. Nobody takes a frame of a later collective, so streams need
 * no book of who waits for what; and since all write and read in the order of segments, the one furthest behind always
 * finds what it waits for.
 */
final class AeronMember extends CheckedGroup {
    private static final long JOIN_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    // Nothing wakes who waits for a stream, so it looks again and again. It sleeps in between: with more threads than cores
    // one that spins or yields keeps the others from what it waits for.
    private static final long LEAST_PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(1);
    private static final long MOST_PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private final Membership membership;
    private final int epoch;
    private final Streams streams;
    private final Exchange exchange;
    private final SegmentFrame frame = new SegmentFrame();
    private final FragmentHandler[] handlers;
    private final IntPredicate isWaitedFor;
    private final IdleStrategy idle = new BackoffIdleStrategy(1, 1, LEAST_PARK_NANOS, MOST_PARK_NANOS);
    /** For each member, whom it has heard when it last said so: bits. */
    private final long[] heardBy;
    private Call call = new Call();
    private long sequence;
    private long progressNanos;
    /** Why the group is at an end, or null. */
    private String end;
    private OptionalInt culprit = OptionalInt.empty();
    private RuntimeException cause;
    private volatile boolean isLeaving;
    private boolean isClosed;

    AeronMember(Membership membership, int member, int epoch, Streams streams) {
        super(membership.size(), member);
        this.membership = membership;
        this.epoch = epoch;
        this.streams = streams;
        this.exchange = new Exchange(membership.size(), member, streams);
        this.isWaitedFor = exchange::waitsFor;
        this.heardBy = new long[membership.size()];
        this.handlers = new FragmentHandler[membership.size()];
        for (int from = 0; from < handlers.length; from++) {
            handlers[from] = handler(from);
        }
    }

    private FragmentHandler handler(int from) {
        LogMemory memory = new LogMemory();
        return (buffer, offset, length, _) -> {
            // Aeron would log what a handler throws and go on.
            try {
                if (frame.wrap(buffer, offset, length) && frame.epoch() >= epoch) {
                    take(from, buffer, memory.of(buffer));
                }
            } catch (RuntimeException failure) {
                fail(membership.describe(from) + " sent what does not fit: " + failure.getMessage(),
                        OptionalInt.of(from), failure);
            }
        };
    }

    /**
     * Says that this member is there until all others have heard it and it has heard them: from then on each reads
     * whatever any of them sends.
     */
    synchronized void join() {
        long all = -1L >>> Long.SIZE - size();
        long own = 1L << member();
        long said = 0;
        long saidNanos = System.nanoTime() - JOIN_INTERVAL_NANOS;
        progressNanos = System.nanoTime();
        heardBy[member()] = all;
        while (size() > 1) {
            // Who has heard this member has no more to say here: its next frame is of the first collective.
            boolean moved = receive(other -> (heardBy[other] & own) == 0);
            long heard = 0;
            for (int other = 0; other < size(); other++) {
                heard |= heardBy[other] == 0 ? 0 : 1L << other;
            }
            boolean isDue = heard != said || System.nanoTime() - saidNanos >= JOIN_INTERVAL_NANOS;
            if (isDue && streams.send(SegmentFrame.Kind.JOIN, 0, call, MemorySegment.NULL, 0, 0, heard,
                    SegmentFrame.FOR_ALL)) {
                said = heard;
                saidNanos = System.nanoTime();
            }
            if (said == all && IntStream.range(0, size()).allMatch(other -> (heardBy[other] & own) != 0)) {
                return;
            }
            rest(moved, other -> (heardBy[other] & own) == 0);
        }
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
        progressNanos = System.nanoTime();
        exchange.begin(call, source, target, sequence);
        while (!exchange.isDone()) {
            boolean moved = exchange.send();
            moved |= receive(isWaitedFor);
            rest(moved, isWaitedFor);
        }
        sequence++;
    }

    private boolean receive(IntPredicate isAwaited) {
        boolean moved = false;
        for (int other = 0; other < size(); other++) {
            moved |= other != member() && isAwaited.test(other) && streams.receive(other, handlers[other]);
        }
        return moved;
    }

    private void take(int from, DirectBuffer buffer, MemorySegment memory) {
        if (frame.epoch() > epoch) {
            fail("epoch " + frame.epoch() + " has begun", OptionalInt.empty(), null);
            return;
        }
        switch (frame.kind()) {
            case JOIN -> heardBy[from] = frame.offset() | 1L << from;
            case END -> fail(frame.payloadText(), culprit(frame.root()), null);
            case CALL, PART, RESULT -> {
                // What was for others only may be left of the collective before.
                if (frame.sequence() == sequence && frame.isFor(member())) {
                    takeOfCollective(from, buffer, memory);
                }
            }
        }
    }

    private void takeOfCollective(int from, DirectBuffer buffer, MemorySegment memory) {
        long at = LogMemory.position(buffer, frame.payloadAt());
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
            case RESULT -> exchange.result(from, frame.offset(), memory, at, frame.payloadBytes());
            case JOIN, END -> throw new IllegalStateException(frame.kind() + " is of no collective");
        }
    }

    private static OptionalInt culprit(int code) {
        return code == SegmentFrame.FOR_ALL ? OptionalInt.empty() : OptionalInt.of(code);
    }

    /** Rests where nothing has moved; throws where nothing will. */
    private void rest(boolean moved, IntPredicate isAwaited) {
        long now = System.nanoTime();
        if (moved) {
            progressNanos = now;
        } else if (now - progressNanos >= membership.deadline().toNanos()) {
            failOfAbsence(now - progressNanos, isAwaited);
        }
        if (Thread.currentThread().isInterrupted()) {
            fail(membership.describe(member()) + " was interrupted", OptionalInt.of(member()), null);
        }
        if (isLeaving) {
            failOfLeaving();
        }
        if (end != null) {
            throw ended();
        }
        idle.idle(moved ? 1 : 0);
    }

    private void failOfAbsence(long waitedNanos, IntPredicate isAwaited) {
        int[] absent = IntStream.range(0, size()).filter(other -> other != member() && isAwaited.test(other))
                .toArray();
        String who = absent.length == 0
                ? "somebody of " + membership.describe() + " who does not read what is sent"
                : IntStream.of(absent).mapToObj(membership::describe).collect(Collectors.joining(" and "));
        fail(who + String.format(Locale.ROOT, " did not come within %.3g s", waitedNanos / 1e9),
                IntStream.of(absent).findFirst(), null);
    }

    /** The first reason is the one that stands; the others hear of it. */
    private void fail(String why, OptionalInt whose, RuntimeException failure) {
        if (end == null) {
            end = why;
            culprit = whose;
            cause = failure;
            streams.sendEnd(sequence, call, why, whose.orElse(SegmentFrame.FOR_ALL));
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
        // Seen by a call of another thread, which then ends and lets this one in.
        isLeaving = true;
        leave();
    }

    private synchronized void leave() {
        if (!isClosed) {
            isClosed = true;
            failOfLeaving();
            streams.close();
        }
    }
}
