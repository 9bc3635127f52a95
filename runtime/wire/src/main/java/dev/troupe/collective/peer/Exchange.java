package dev.troupe.collective.peer;

import dev.troupe.collective.BlockReduction;
import dev.troupe.collective.Call;
import dev.troupe.collective.Collective;
import dev.troupe.collective.Reduction;
import dev.troupe.collective.Shares;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The state of a member in one collective: the parts that it still has to send, and the parts that it awaits from each
 * member. The object is reused. One thread.
 *
 * <p>The direct way, for two members or few bytes: members send each other all their values, and each reduces all of them.
 * Otherwise a member sends each other member that member's share, segment by segment, reduces its own share, and sends the
 * result to all.
 *
 * <p>In an all-to-all a member sends each other member's part, segment by segment, and its call again after the last one. A
 * member that has read it has read all frames of the others, including those for other members on a common stream.
 */
final class Exchange {
    /** The most bytes for the direct way, which saves a hop but makes each member compute all sums. */
    private static final long DIRECT_BYTES = 64 << 10;
    private static final int FRAMES_IN_A_ROW = 4;
    /** The bytes of a value for each byte after rounding. */
    private static final int ROUNDING = 2;
    private static final int LINE_BYTES = 64;

    private final int size;
    private final int member;
    private final Ways ways;
    private final int segmentBytes;
    private final BlockReduction block;
    /** A part of this member's values after rounding. */
    private final MemorySegment rounded;
    /** The calls that each member still has to send. */
    private final int[] callsLeft;
    private final long[] resultBytesLeft;
    private Call call = new Call();
    private MemorySegment source = MemorySegment.NULL;
    private MemorySegment target = MemorySegment.NULL;
    private long sequence;
    private boolean isDirect;
    /** The calls of a member: an all-to-all ends with a second one. */
    private int calls;
    private int callsSent;
    /** Whether a part may be partly sent, so that no other frame may be sent before it. */
    private boolean isPartInProgress;
    /**
     * The parts to send: the position in every share, and the next member to send to; the direct way uses the position only.
     */
    private long partAt;
    private int partTo;
    private long partEnd;
    /** The reduction of this member: its first byte, its position, its end, and the member with the next part. */
    private long reduceFrom;
    private long reduceAt;
    private long reduceEnd;
    private int reduceNext;
    /** The results to send, in bytes of {@link #resultSource}: the position, the end of the finished ones, and the end. */
    private MemorySegment resultSource = MemorySegment.NULL;
    private long resultAt;
    private long resultReady;
    private long resultEnd;
    /** The offset of {@link #resultSource} in the whole. */
    private long resultBase;

    Exchange(int size, int member, Ways ways) {
        this.size = size;
        this.member = member;
        this.ways = ways;
        this.segmentBytes = ways.mostPayload();
        this.block = new BlockReduction(segmentBytes);
        this.rounded = Arena.ofAuto().allocate(segmentBytes / ROUNDING, LINE_BYTES);
        this.callsLeft = new int[size];
        this.resultBytesLeft = new long[size];
    }

    void begin(Call what, MemorySegment from, MemorySegment to, long number) {
        call = what;
        source = from;
        target = to;
        sequence = number;
        calls = call.collective() == Collective.ALL_TO_ALL ? 2 : 1;
        callsSent = 0;
        isPartInProgress = false;
        Arrays.fill(callsLeft, calls);
        callsLeft[member] = 0;
        Arrays.fill(resultBytesLeft, 0);
        partAt = 0;
        partTo = 0;
        partEnd = 0;
        reduce(0, 0);
        results(MemorySegment.NULL, 0, 0, 0, 0);
        long bytes = call.bytes();
        isDirect = size == 2 || bytes <= DIRECT_BYTES;
        switch (call.collective()) {
            case ALL_REDUCE -> beginReduction(isDirect ? 0 : share(member), isDirect ? bytes : share(member + 1));
            case REDUCE_SCATTER -> beginReduction(share(member), share(member + 1));
            case ALL_GATHER -> {
                Arrays.fill(resultBytesLeft, bytes / size);
                results(source, 0, bytes / size, bytes / size, bytes / size * member);
                MemorySegment.copy(source, 0, target, bytes / size * member, bytes / size);
            }
            case BROADCAST -> {
                resultBytesLeft[call.root()] = bytes;
                if (member == call.root()) {
                    results(source, 0, bytes, bytes, 0);
                }
            }
            case ALL_TO_ALL -> beginAllToAll();
            case BARRIER -> {
            }
            case EXCHANGE -> throw new IllegalStateException("objects do not leave their process");
        }
        resultBytesLeft[member] = 0;
    }

    private void beginAllToAll() {
        for (int other = 0; other < size; other++) {
            resultBytesLeft[other] = call.part(other, member);
            partEnd = Math.max(partEnd, other == member ? 0 : call.part(member, other));
        }
        MemorySegment.copy(source, call.sourceOffset(member, member), target, call.targetOffset(member, member),
                call.part(member, member));
    }

    private void beginReduction(long from, long to) {
        reduce(from, to);
        boolean isAllReduce = call.collective() == Collective.ALL_REDUCE;
        isDirect &= isAllReduce;
        if (isDirect) {
            partEnd = call.bytes();
            return;
        }
        for (int other = 0; other < size; other++) {
            long shareBytes = share(other + 1) - share(other);
            partEnd = Math.max(partEnd, shareBytes);
            resultBytesLeft[other] = isAllReduce ? shareBytes : 0;
        }
        if (isAllReduce) {
            results(target, from, from, to, 0);
        }
    }

    private void reduce(long from, long to) {
        reduceFrom = from;
        reduceAt = from;
        reduceEnd = to;
        reduceNext = 0;
    }

    private void results(MemorySegment from, long at, long ready, long end, long base) {
        resultSource = from;
        resultAt = at;
        resultReady = ready;
        resultEnd = end;
        resultBase = base;
    }

    /** Returns the first byte of a member's share. */
    private long share(int of) {
        return call.collective() == Collective.REDUCE_SCATTER
                ? call.bytes() / size * of
                : Shares.start(call.bytes(), size, of);
    }

    /** Sends a few frames; returns whether a frame was sent or a part reduced. */
    boolean send() {
        boolean moved = false;
        for (int frames = 0; frames < FRAMES_IN_A_ROW && sendOne(); frames++) {
            moved = true;
        }
        return addOwn() | moved;
    }

    private boolean sendOne() {
        if (callsSent == 0) {
            return sendCall();
        }
        if (resultAt < resultReady && !isPartInProgress) {
            int bytes = segment(resultReady - resultAt);
            boolean isSent = ways.send(SegmentFrame.Kind.RESULT, sequence, call, resultSource, resultAt, bytes,
                    resultBase + resultAt, SegmentFrame.FOR_ALL);
            resultAt += isSent ? bytes : 0;
            return isSent;
        }
        if (partAt >= partEnd) {
            return callsSent < calls && sendCall();
        }
        boolean isSent = call.collective() == Collective.ALL_TO_ALL
                ? sendResult()
                : isDirect ? sendPartToAll() : sendPart();
        isPartInProgress = !isSent;
        return isSent;
    }

    private boolean sendCall() {
        boolean isSent = ways.send(SegmentFrame.Kind.CALL, sequence, call, source, 0, 0, 0, SegmentFrame.FOR_ALL);
        callsSent += isSent ? 1 : 0;
        return isSent;
    }

    /** Sends the next segment of an all-to-all, which needs no reduction, to the next member. */
    private boolean sendResult() {
        int bytes = segment(call.part(member, partTo) - partAt);
        if (partTo != member && bytes > 0 && !ways.send(SegmentFrame.Kind.RESULT, sequence, call, source,
                call.sourceOffset(member, partTo) + partAt, bytes, call.targetOffset(member, partTo) + partAt,
                partTo)) {
            return false;
        }
        nextPart();
        return true;
    }

    private void nextPart() {
        if (++partTo == size) {
            partTo = 0;
            partAt += segmentBytes;
        }
    }

    private boolean sendPartToAll() {
        int bytes = segment(partEnd - partAt);
        boolean isSent = sendPart(partAt, bytes, SegmentFrame.FOR_ALL);
        partAt += isSent ? bytes : 0;
        return isSent;
    }

    private boolean sendPart(long at, int bytes, int to) {
        if (!isRounded()) {
            return ways.send(SegmentFrame.Kind.PART, sequence, call, source, at, bytes, at, to);
        }
        if (!isPartInProgress) { // what has begun to leave stays as it is
            BlockReduction.round(source, at, bytes, rounded);
        }
        return ways.send(SegmentFrame.Kind.PART, sequence, call, rounded, 0, bytes / ROUNDING, at, to);
    }

    private boolean isRounded() {
        return call.reduction() == Reduction.SUM_OF_ROUNDED;
    }

    private boolean sendPart() {
        long from = share(partTo) + partAt;
        int bytes = segment(share(partTo + 1) - from);
        if (partTo != member && bytes > 0 && !sendPart(from, bytes, partTo)) {
            return false;
        }
        nextPart();
        return true;
    }

    private int segment(long left) {
        return Math.clamp(left, 0, segmentBytes);
    }

    /** Returns whether a member's next frame may be taken: its call, the next part of the reduction, or a result. */
    boolean waitsFor(int other) {
        return callsLeft[other] > 0 || (isReducing() ? reduceNext == other : resultBytesLeft[other] > 0);
    }

    private boolean isReducing() {
        return reduceAt < reduceEnd;
    }

    /** Returns whether all parts are sent, and all parts of other members have arrived. */
    boolean isDone() {
        boolean isSent = callsSent == calls && partAt >= partEnd && resultAt == resultEnd;
        if (!isSent || isReducing()) {
            return false;
        }
        for (int other = 0; other < size; other++) {
            if (waitsFor(other)) {
                return false;
            }
        }
        return true;
    }

    /** Records that a member has made the same call, or has ended it. */
    void called(int other) {
        callsLeft[other]--;
    }

    /** Reduces a part of a member's values, which must be the next one. */
    void part(int from, long offset, MemorySegment memory, long at, int bytes) {
        int expected = segment(reduceEnd - reduceAt) / (isRounded() ? ROUNDING : 1);
        if (from != reduceNext || offset != reduceAt || bytes != expected) {
            throw new IllegalStateException("the part of member " + reduceNext + " at byte " + reduceAt
                    + " was expected, but found " + bytes + " bytes of member " + from + " at byte " + offset);
        }
        if (!isRounded()) {
            add(memory, at);
        } else if (reduceNext == 0) {
            block.beginRounded(memory, at, segment(reduceEnd - reduceAt));
            added();
        } else {
            block.addRounded(memory, at);
            added();
        }
        addOwn();
    }

    /** Returns the place of a part of the results; {@link MemorySegment#NULL} if it is not expected. */
    MemorySegment place(int from, long offset, int bytes) {
        boolean isExpected = callsLeft[from] < calls && bytes <= resultBytesLeft[from] && offset >= 0
                && offset <= target.byteSize() - bytes;
        return isExpected ? target.asSlice(offset, bytes) : MemorySegment.NULL;
    }

    /** Copies a part of the results to its place. */
    void copy(long offset, MemorySegment memory, long at, int bytes) {
        MemorySegment.copy(memory, at, target, offset, bytes);
    }

    /** Records that a part of a member's results is in its place. */
    void result(int from, int bytes) {
        resultBytesLeft[from] -= bytes;
    }

    /** Reduces this member's own part if it is next, and if the result overwrites it only after it was sent. */
    private boolean addOwn() {
        boolean isNext = isReducing() && reduceNext == member;
        if (!isNext || isDirect && partAt < reduceAt + segment(reduceEnd - reduceAt)) {
            return false;
        }
        add(source, reduceAt);
        return true;
    }

    private void add(MemorySegment memory, long at) {
        if (reduceNext == 0) {
            block.begin(memory, at, segment(reduceEnd - reduceAt), call.type(), call.reduction());
        } else {
            block.add(memory, at);
        }
        added();
    }

    /** Writes the result after the last member's values were added. */
    private void added() {
        if (++reduceNext == size) {
            block.write(target, call.collective() == Collective.REDUCE_SCATTER ? reduceAt - reduceFrom : reduceAt);
            reduceNext = 0;
            reduceAt += segment(reduceEnd - reduceAt);
            resultReady = resultEnd > 0 ? reduceAt : 0;
        }
    }
}
