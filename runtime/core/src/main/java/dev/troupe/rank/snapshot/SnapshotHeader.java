package dev.troupe.rank.snapshot;

import dev.troupe.snapshot.copy.SnapshotLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The header of a snapshot in shared memory, before its tensors: its steps done, the number of its writing, and its layout.
 * One process writes, others read. As in a sequence lock, the number of the writing changes before the first byte. So a
 * reader can check after a read whether the owner wrote meanwhile.
 */
final class SnapshotHeader {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final long TOKEN_AT = 0;
    private static final long STEPS_AT = 8;
    private static final long WRITING_AT = 16;
    private static final long AFTER_AT = 24;
    private static final long LAYOUT_BYTES_AT = 32;
    private static final long LAYOUT_AT = 64;

    private final MemorySegment memory;

    SnapshotHeader(MemorySegment memory) {
        this.memory = memory;
    }

    /** Returns the size of the header for a layout of {@code layoutBytes}. */
    static long bytes(long layoutBytes) {
        return Math.ceilDiv(LAYOUT_AT + layoutBytes, SnapshotLayout.ALIGNMENT) * SnapshotLayout.ALIGNMENT;
    }

    /** Writes the token and the layout, before the memory is offered to other processes. */
    void claim(long token, byte[] layout) {
        LONG.setRelease(memory, LAYOUT_BYTES_AT, (long) layout.length);
        MemorySegment.copy(MemorySegment.ofArray(layout), 0, memory, LAYOUT_AT, layout.length);
        LONG.setRelease(memory, STEPS_AT, -1L);
        LONG.setRelease(memory, AFTER_AT, -1L);
        LONG.setRelease(memory, TOKEN_AT, token);
    }

    /**
     * Returns the layout that the owner has written.
     *
     * @throws IOException if the memory does not have this token, or has another format
     */
    SnapshotLayout layout(long token) throws IOException {
        if (memory.byteSize() < LAYOUT_AT || (long) LONG.getAcquire(memory, TOKEN_AT) != token) {
            throw new IOException("the memory is another one");
        }
        try {
            SnapshotLayout layout = SnapshotLayout
                    .decode(memory.asSlice(LAYOUT_AT, layoutBytes()).toArray(ValueLayout.JAVA_BYTE));
            if (bytes(layoutBytes()) + layout.byteCount() > memory.byteSize()) {
                throw new IOException("the memory is smaller than its layout");
            }
            return layout;
        } catch (IllegalArgumentException | IndexOutOfBoundsException wrong) {
            throw new IOException("its layout is damaged", wrong);
        }
    }

    private long layoutBytes() {
        return (long) LONG.getAcquire(memory, LAYOUT_BYTES_AT);
    }

    MemorySegment content() {
        return memory.asSlice(bytes(layoutBytes()));
    }

    void begin(long writing, long afterSteps) {
        LONG.setRelease(memory, STEPS_AT, -1L);
        LONG.setRelease(memory, WRITING_AT, writing);
        LONG.setRelease(memory, AFTER_AT, afterSteps);
        VarHandle.storeStoreFence(); // before the bytes
    }

    /** Ends a writing, after all bytes are written. */
    void finish() {
        LONG.setRelease(memory, STEPS_AT, writtenAfter());
    }

    /** Returns the steps done of the complete state; negative if there is none. */
    long stepsDone() {
        return (long) LONG.getAcquire(memory, STEPS_AT);
    }

    /** Returns the steps done of the state, even if it is still being written. */
    long writtenAfter() {
        return (long) LONG.getAcquire(memory, AFTER_AT);
    }

    /**
     * Returns the number of the writing that made the state; negative if the state is not the one after {@code afterSteps}
     * steps.
     */
    long writingOf(long afterSteps) {
        if (stepsDone() != afterSteps) {
            return -1;
        }
        long writing = (long) LONG.getAcquire(memory, WRITING_AT);
        return stepsDone() == afterSteps ? writing : -1;
    }

    /** Whether bytes that were read before this call belong to a writing. */
    boolean isOf(long writing) {
        VarHandle.acquireFence(); // after the bytes
        return (long) LONG.getAcquire(memory, WRITING_AT) == writing && stepsDone() >= 0;
    }
}
