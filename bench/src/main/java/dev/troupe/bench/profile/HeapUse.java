package dev.troupe.bench.profile;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/**
 * The use of the heap.
 *
 * @param allocatedBytes bytes allocated by all threads, including ended ones
 * @param collections garbage collections, of all kinds
 */
public record HeapUse(long allocatedBytes, long collections) {
    /** Returns the use since the process began. */
    public static HeapUse now() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long collections = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
        return new HeapUse(threads.getTotalThreadAllocatedBytes(), collections);
    }

    public HeapUse since(HeapUse earlier) {
        return new HeapUse(allocatedBytes - earlier.allocatedBytes, collections - earlier.collections);
    }
}
