package dev.troupe.snapshot.copy;

import java.lang.foreign.MemorySegment;

/** A snapshot that is received in parts; readers find it only when it is complete. Any thread. */
public interface IncomingCopy {
    /**
     * Writes a part of its bytes.
     *
     * @return false if the memory now belongs to another owner: a rank that has moved to this node, or a later copy
     */
    boolean write(long offset, MemorySegment source);

    /**
     * Marks the copy as complete and undamaged, so that readers find it.
     *
     * @return false if the memory now belongs to another owner
     */
    boolean complete();
}
