package dev.troupe.engine.cuda.device;

import dev.troupe.engine.Memory;

/** Memory of a device that several processes copy to and from, as one of them sees it. */
public interface SharedAllocation extends Memory.Shared {
    /** Where it begins, for streams of the {@link #device}. */
    long address();

    /** The device of this process whose streams reach it. */
    Device device();
}
