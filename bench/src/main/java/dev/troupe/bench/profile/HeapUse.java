package dev.troupe.bench.profile;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/**
 * What was done to the heap.
 *
 * @param allocatedBytes
 *            allocated by all threads, those that have ended too
 * @param collections
 *            garbage collections, of all kinds
 */
public record HeapUse(long allocatedBytes, long collections) {
    /** Since the process began. */
    public static HeapUse now() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long collections = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
        return new HeapUse(threads.getTotalThreadAllocatedBytes(), collections);
    }

    /** What was done since an earlier reading. */
    public HeapUse since(HeapUse earlier) {
        return new HeapUse(allocatedBytes - earlier.allocatedBytes, collections - earlier.collections);
    }
}
