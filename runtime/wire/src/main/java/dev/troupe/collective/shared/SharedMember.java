package dev.troupe.collective.shared;

import dev.troupe.collective.BlockReduction;
import dev.troupe.collective.Call;
import dev.troupe.collective.CheckedGroup;
import dev.troupe.collective.Collective;
import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.Shares;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;

/**
 * The end of a group in one of its threads.
 *
 * <p>With up to {@link Slot#NOTE_BYTES} bytes, each member leaves a copy of its values, all meet once, and each reads the
 * copies it needs, so the last to arrive never waits. With more bytes, each member works on the others' memory between two
 * meetings: it reduces its share and writes the result to every member, or copies the slices that it gathers, or its share
 * of a broadcast.
 */
final class SharedMember extends CheckedGroup {
    private final Meeting meeting;
    private final BlockReduction block = new BlockReduction();
    private final MemorySegment[] sources;
    private final Call ofExchange = new Call();
    private long sequence;

    SharedMember(Meeting meeting, int member) {
        super(meeting.membership().size(), member);
        this.meeting = meeting;
        this.sources = new MemorySegment[size()];
    }

    @Override
    protected void perform(Call call, MemorySegment source, MemorySegment target) {
        if (meeting.ended() != null) {
            throw failed(call, meeting.ended(), null);
        }
        try {
            // Equal for all members, also if they send different numbers of bytes.
            long noted = call.collective() == Collective.ALL_TO_ALL ? call.bytes() : source.byteSize();
            boolean isNoted = noted <= Slot.NOTE_BYTES;
            Slot.Turn own = meeting.slot(member()).turn(sequence);
            own.call.set(call);
            own.source = isNoted ? own.note : source;
            own.target = target;
            if (isNoted) {
                MemorySegment.copy(source, 0, own.note, 0, source.byteSize());
            }
            meet(call);
            requireOneCall(call);
            for (int member = 0; member < size(); member++) {
                sources[member] = turn(member).source;
            }
            exchange(call, target, isNoted);
            if (!isNoted) {
                meet(call);
            }
            sequence++;
        } catch (CollectiveException known) {
            throw known;
        } catch (RuntimeException failure) {
            throw failed(call, meeting.end(meeting.membership().describe(member()) + " failed: " + failure,
                    OptionalInt.of(member())), failure);
        }
    }

    @Override
    public boolean sharesProcess() {
        return true;
    }

    /** {@inheritDoc} The objects are read after all have arrived, and remain until this member arrives again. */
    @Override
    public void exchange(Object own, Object[] all, long whole, long sent) {
        ofExchange.exchange(whole);
        meeting.slot(member()).turn(sequence).left = own;
        perform(ofExchange, MemorySegment.NULL, MemorySegment.NULL);
        for (int member = 0; member < size(); member++) {
            all[member] = meeting.slot(member).turn(sequence - 1).left;
        }
        count(sent);
    }

    private void exchange(Call call, MemorySegment target, boolean isNoted) {
        long bytes = call.bytes();
        switch (call.collective()) {
            case ALL_REDUCE -> {
                if (isNoted) {
                    reduce(call, 0, bytes, target, 0);
                } else {
                    reduceForAll(call, Shares.start(bytes, size(), member()),
                            Shares.start(bytes, size(), member() + 1));
                }
            }
            case REDUCE_SCATTER -> reduce(call, target.byteSize() * member(), target.byteSize() * (member() + 1),
                    target, target.byteSize() * member());
            case ALL_GATHER -> {
                long slice = bytes / size();
                for (int member = 0; member < size(); member++) {
                    MemorySegment.copy(sources[member], 0, target, member * slice, slice);
                }
            }
            case BROADCAST -> {
                if (!isNoted) {
                    spread(call, Shares.start(bytes, size(), member()), Shares.start(bytes, size(), member() + 1));
                } else if (call.root() != member()) {
                    MemorySegment.copy(sources[call.root()], 0, target, 0, bytes);
                }
            }
            case ALL_TO_ALL -> {
                for (int member = 0; member < size(); member++) {
                    MemorySegment.copy(sources[member], call.sourceOffset(member, member()), target,
                            call.targetOffset(member, member()), call.part(member, member()));
                }
            }
            case BARRIER, EXCHANGE -> {
            }
        }
    }

    /** Copies bytes {@code from .. to} of the root to every other member, so that the root shares the work. */
    private void spread(Call call, long from, long to) {
        for (int member = 0; member < size(); member++) {
            if (member != call.root()) {
                MemorySegment.copy(sources[call.root()], from, turn(member).target, from, to - from);
            }
        }
    }

    /** Reduces bytes {@code from .. to} of every member into {@code target}, which begins with their byte {@code base}. */
    private void reduce(Call call, long from, long to, MemorySegment target, long base) {
        for (long at = from; at < to; at += BlockReduction.MOST_BYTES) {
            reduceBlock(call, at, to);
            block.write(target, at - base);
        }
    }

    private void reduceForAll(Call call, long from, long to) {
        for (long at = from; at < to; at += BlockReduction.MOST_BYTES) {
            reduceBlock(call, at, to);
            for (int member = 0; member < size(); member++) {
                block.write(turn(member).target, at);
            }
        }
    }

    private void reduceBlock(Call call, long at, long end) {
        int bytes = (int) Math.min(BlockReduction.MOST_BYTES, end - at);
        if (size() == 1) {
            block.begin(sources[0], at, bytes, call.type(), call.reduction());
            return;
        }
        block.begin(sources[0], at, sources[1], at, bytes, call.type(), call.reduction());
        for (int member = 2; member < size(); member++) {
            block.add(sources[member], at);
        }
    }

    private Slot.Turn turn(int member) {
        return meeting.slot(member).turn(sequence);
    }

    private void meet(Call call) {
        Meeting.End end = meeting.meet(member());
        if (end != null) {
            throw failed(call, end, null);
        }
    }

    private void requireOneCall(Call call) {
        Call first = turn(0).call;
        for (int member = 1; member < size(); member++) {
            if (!first.matches(turn(member).call)) {
                throw failed(call, meeting.end(meeting.membership().describe(0) + " calls " + first + ", but "
                        + meeting.membership().describe(member) + " calls " + turn(member).call,
                        OptionalInt.empty()), null);
            }
        }
    }

    private CollectiveException failed(Call call, Meeting.End end, RuntimeException cause) {
        return new CollectiveException(
                meeting.membership().describe(member()) + " of " + meeting.membership().describe()
                        + ", epoch " + meeting.epoch() + ", at collective " + sequence + ", " + call + ": " + end.why(),
                end.culprit(), cause);
    }

    @Override
    public void close() {
        meeting.end(meeting.membership().describe(member()) + " has left", OptionalInt.of(member()));
    }
}
