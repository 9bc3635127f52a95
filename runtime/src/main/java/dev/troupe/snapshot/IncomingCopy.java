package dev.troupe.snapshot;

import java.lang.foreign.MemorySegment;

/** A snapshot that comes in parts; nobody finds it before it is whole. Any thread. */
public final class IncomingCopy {
    private final OwnSnapshot snapshot;
    private final long writing;
    private final long stepsDone;

    IncomingCopy(OwnSnapshot snapshot, long stepsDone) {
        this.snapshot = snapshot;
        this.writing = snapshot.begin(stepsDone);
        this.stepsDone = stepsDone;
    }

    /**
     * Writes a part of its bytes.
     *
     * @return false where the memory is another's by now: a rank that has come to this node, or a later copy
     */
    public boolean write(long offset, MemorySegment source) {
        return snapshot.put(writing, offset, source);
    }

    /**
     * Says that all parts are here and as they were sent, so that it is found from now on.
     *
     * @return false where the memory is another's by now
     */
    public boolean complete() {
        return snapshot.finish(writing, stepsDone);
    }
}
