package dev.troupe.rank.warmup;

import dev.troupe.collective.Call;
import dev.troupe.collective.CheckedGroup;
import dev.troupe.collective.Collective;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.rank.group.RankGroups;
import dev.troupe.transport.NodeMap;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The process groups of a run with one member present: a collective returns at once, without the contributions of others.
 */
public record WarmUpGroups(ParallelLayout ranks) implements RankGroups {
    @Override
    public Optional<CollectiveGroup> join(GroupKind kind, int rank, int epoch) {
        List<Integer> members = ranks.group(kind, rank);
        return members.size() == 1
                ? Optional.empty()
                : Optional.of(new Alone(members.size(), members.indexOf(rank)));
    }

    @Override
    public void enter(NodeMap nodes) {
        // No rank has joined.
    }

    @Override
    public void close() {
        // A group has nothing to free.
    }

    private static final class Alone extends CheckedGroup {
        Alone(int size, int member) {
            super(size, member);
        }

        /** Copies the slice of this member to its place in the result. */
        @Override
        protected void perform(Call call, MemorySegment source, MemorySegment target) {
            if (call.collective() == Collective.ALL_TO_ALL) {
                MemorySegment.copy(source, call.sourceOffset(member(), member()), target,
                        call.targetOffset(member(), member()), call.part(member(), member()));
                return;
            }
            long slice = Math.min(source.byteSize(), target.byteSize());
            long from = source.byteSize() > slice ? member() * slice : 0;
            long to = target.byteSize() > slice ? member() * slice : 0;
            MemorySegment.copy(source, from, target, to, slice);
        }

        @Override
        public void close() {
            // No rank waits.
        }
    }
}
