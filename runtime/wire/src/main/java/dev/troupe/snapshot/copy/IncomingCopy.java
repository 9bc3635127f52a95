package dev.troupe.snapshot.copy;

import java.lang.foreign.MemorySegment;

/** A snapshot that arrives in parts; readers do not find it before it is whole. Any thread. */
public interface IncomingCopy {
    /**
     * Writes a part of its bytes.
     *
     * @return false if the memory has another owner by now: a rank that has moved to this node, or a later copy
     */
    boolean write(long offset, MemorySegment source);

    /**
     * Marks the copy as whole and undamaged, so that readers find it from now on.
     *
     * @return false if the memory has another owner by now
     */
    boolean complete();
}
