package dev.troupe.transport.link;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** The place of a fragment in the buffer of its message; objects are reused. */
final class Landing {
    IncomingEdge edge;
    PostedReceives.Buffer buffer;
    long pass;
    int microbatch;
    int rows;
    long offset;
    int length;
    long byteCount;
    int clearings = -1;
    // For fragments that a device copies.
    Landing firstOfMessage;
    boolean isLast;
    boolean isBroken;

    int length() {
        return length;
    }

    /** Returns the fragment's offset in the buffer, in bytes. */
    long offset() {
        return offset;
    }

    Tensor tensor() {
        return buffer.tensor();
    }

    Engine engine() {
        return buffer.engine();
    }

    /** Returns the memory of the fragment in the buffer; empty if the buffer is not in memory of this process. */
    Optional<MemorySegment> memory() {
        return engine().hostMemory(tensor()).map(memory -> memory.asSlice(offset, length));
    }
}
