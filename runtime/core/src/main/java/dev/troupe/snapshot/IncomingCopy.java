package dev.troupe.snapshot;

import java.lang.foreign.MemorySegment;

/** A snapshot that arrives in parts; readers do not find it before it is whole. Any thread. */
public final class IncomingCopy {
    private final OwnSnapshot snapshot;
    private final long writing;

    IncomingCopy(OwnSnapshot snapshot, long stepsDone) {
        this.snapshot = snapshot;
        this.writing = snapshot.begin(stepsDone);
    }

    /**
     * Writes a part of its bytes.
     *
     * @return false where the memory has another owner by now: a rank that has moved to this node, or a later copy
     */
    public boolean write(long offset, MemorySegment source) {
        return snapshot.put(writing, offset, source);
    }

    /**
     * Marks the copy as whole and undamaged, so that readers find it from now on.
     *
     * @return false where the memory has another owner by now
     */
    public boolean complete() {
        return snapshot.finish(writing);
    }
}
