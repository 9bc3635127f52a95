package dev.troupe.bench.profile;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Processor time by the kind of thread.
 *
 * @param cpuNanos for each kind of thread its processor time since the thread began; {@link #REST} is the processor
 *     time of the process beyond its Java threads: compiler, garbage collector, the threads of an engine
 */
public record ThreadTimes(Map<String, Long> cpuNanos) {
    /** The processor time of the process that no Java thread of a run accounts for. */
    public static final String REST = "JIT, GC, threads of the engine";
    /** The kind of the transport's thread. */
    public static final String TRANSPORT = "transport";
    /** The kind of the media driver's threads. */
    public static final String MEDIA_DRIVER = "media driver";
    /** The kind of the threads that actors run on. */
    public static final String ACTORS = "actors";

    /** Threads that record a run, each a kind of its own. */
    private static final Set<String> RECORDERS = Set.of("step-records", "pauses");

    /** Returns the processor time of all threads until now. */
    public static ThreadTimes now() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Map<String, Long> sums = new TreeMap<>();
        long inThreads = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            long nanos = thread == null ? -1 : threads.getThreadCpuTime(thread.getThreadId());
            if (nanos > 0) {
                sums.merge(kindOf(thread.getThreadName()), nanos, Long::sum);
                inThreads += nanos;
            }
        }
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        sums.put(REST, system.getProcessCpuTime() - inThreads);
        return new ThreadTimes(Map.copyOf(sums));
    }

    /** Returns the processor time since an earlier reading. */
    public ThreadTimes since(ThreadTimes earlier) {
        Map<String, Long> difference = new TreeMap<>();
        cpuNanos.forEach((kind, nanos) -> difference.put(kind, nanos - earlier.cpuNanos.getOrDefault(kind, 0L)));
        return new ThreadTimes(difference);
    }

    /** Returns the processor time of all threads together. */
    public double totalSeconds() {
        return cpuNanos.values().stream().mapToLong(Long::longValue).sum() * 1e-9;
    }

    private static String kindOf(String threadName) {
        if (threadName.startsWith("rank-")) {
            return "rank " + threadName.substring("rank-".length());
        }
        // Aeron renames its threads after their work.
        if (threadName.contains("driver-conductor") || threadName.contains("aeron-executor")) {
            return MEDIA_DRIVER;
        }
        if (threadName.equals("troupe-transport")) {
            return TRANSPORT;
        }
        if (RECORDERS.contains(threadName)) {
            return threadName;
        }
        return threadName.startsWith("troupe-pekko") || threadName.startsWith("troupe-troupe") ? ACTORS : "other";
    }
}
