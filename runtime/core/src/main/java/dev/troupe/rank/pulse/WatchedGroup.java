package dev.troupe.rank.pulse;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;

/** A process group that reports its member's waits for the others to the member's {@link Pulse}. */
public record WatchedGroup(CollectiveGroup group, Pulse pulse) implements CollectiveGroup {
    @Override
    public int size() {
        return group.size();
    }

    @Override
    public int member() {
        return group.member();
    }

    @Override
    public void allReduce(MemorySegment values, DataType type, Reduction reduction) {
        watched(() -> group.allReduce(values, type, reduction));
    }

    @Override
    public void reduceScatter(MemorySegment whole, MemorySegment slice, DataType type, Reduction reduction) {
        watched(() -> group.reduceScatter(whole, slice, type, reduction));
    }

    @Override
    public void allGather(MemorySegment slice, MemorySegment whole) {
        watched(() -> group.allGather(slice, whole));
    }

    @Override
    public void allToAll(MemorySegment source, MemorySegment target, long[][] parts) {
        watched(() -> group.allToAll(source, target, parts));
    }

    @Override
    public void broadcast(MemorySegment values, int root) {
        watched(() -> group.broadcast(values, root));
    }

    @Override
    public boolean sharesProcess() {
        return group.sharesProcess();
    }

    @Override
    public void exchange(Object own, Object[] all, long whole, long sent) {
        watched(() -> group.exchange(own, all, whole, sent));
    }

    @Override
    public void barrier() {
        watched(group::barrier);
    }

    private void watched(Runnable collective) {
        pulse.collectiveBegins();
        try {
            collective.run();
        } finally {
            pulse.collectiveEnds();
        }
    }

    @Override
    public long bytesSent() {
        return group.bytesSent();
    }

    @Override
    public void close() {
        group.close();
    }
}
