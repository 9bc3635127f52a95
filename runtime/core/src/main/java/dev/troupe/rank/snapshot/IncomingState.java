package dev.troupe.rank.snapshot;

import dev.troupe.snapshot.copy.IncomingCopy;
import java.lang.foreign.MemorySegment;

/** A snapshot that arrives in parts. Thread rule: any thread. */
final class IncomingState implements IncomingCopy {
    private final OwnSnapshot snapshot;
    private final long writing;

    IncomingState(OwnSnapshot snapshot, long stepsDone) {
        this.snapshot = snapshot;
        this.writing = snapshot.begin(stepsDone);
    }

    @Override
    public boolean write(long offset, MemorySegment source) {
        return snapshot.put(writing, offset, source);
    }

    @Override
    public boolean complete() {
        return snapshot.finish(writing);
    }
}
