package dev.troupe.run.cluster.machine;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.plan.UsageException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The names of the nodes' hosts, which a node must be able to resolve before it joins. They may be unknown when it starts,
 * since a pod gets its name only when it runs.
 */
public final class HostNames {
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

    private HostNames() {
    }

    /**
     * Waits until this machine resolves all hosts, at most for the join timeout.
     *
     * @param waiting receives a sentence with the missing hosts, at once and at every change
     * @throws UsageException if hosts are still missing then
     */
    public static void await(ClusterSpec cluster, Consumer<String> waiting) {
        await(cluster::unknownHosts, cluster.joinTimeout(), waiting, System::nanoTime,
                () -> LockSupport.parkNanos(LOOK_AGAIN.toNanos()));
    }

    static void await(Supplier<List<String>> unknown, Duration patience, Consumer<String> waiting, LongSupplier clock,
            Runnable pause) {
        long sinceNanos = clock.getAsLong();
        List<String> missing = unknown.get();
        List<String> last = List.of();
        while (!missing.isEmpty()) {
            if (clock.getAsLong() - sinceNanos > patience.toNanos()) {
                throw new UsageException(String.join("\n", missing) + " It was looked for over "
                        + patience.toSeconds() + " seconds (cluster.join-timeout).");
            }
            if (!missing.equals(last)) {
                waiting.accept("waiting for a host to be known: " + String.join(" ", missing));
                last = missing;
            }
            pause.run();
            missing = unknown.get();
        }
    }
}
