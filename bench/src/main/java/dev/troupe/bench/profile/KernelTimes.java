package dev.troupe.bench.profile;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The cost of kernels since the last reset, summed over all engines and threads.
 *
 * <p>Thread rule: any thread. {@link #reset} and {@link #totals} while nothing computes, or a call may count for one side
 * only.
 */
public final class KernelTimes {
    private final Map<String, Sums> kernels = new ConcurrentHashMap<>();

    private record Sums(LongAdder calls, LongAdder wallNanos, LongAdder operations) {
    }

    /**
     * One kernel's sums.
     *
     * @param name the method of {@link dev.troupe.engine.Engine}
     * @param wallNanos time on the clock from call to return, waiting for a core included
     * @param operations additions and multiplications of matrix products; 0 for other kernels
     */
    public record Total(String name, long calls, long wallNanos, long operations) {
    }

    /** Sets all sums to zero. */
    public void reset() {
        kernels.clear();
    }

    /** Adds one call. */
    void add(String kernel, long wallNanos) {
        Sums sums = of(kernel);
        sums.calls.increment();
        sums.wallNanos.add(wallNanos);
    }

    /** Adds the operations of one call. */
    void addOperations(String kernel, long operations) {
        of(kernel).operations.add(operations);
    }

    private Sums of(String kernel) {
        return kernels.computeIfAbsent(kernel, _ -> new Sums(new LongAdder(), new LongAdder(), new LongAdder()));
    }

    /** Returns the sums of each kernel that was called, the longest time first. */
    public List<Total> totals() {
        return kernels.entrySet().stream()
                .map(kernel -> new Total(kernel.getKey(), kernel.getValue().calls.sum(),
                        kernel.getValue().wallNanos.sum(), kernel.getValue().operations.sum()))
                .sorted(Comparator.comparingLong(Total::wallNanos).reversed()).toList();
    }
}
