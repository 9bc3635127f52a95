package dev.troupe.machine;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Notices that a run stands still: no rank works, every rank waits for a message, and nothing has moved for as long as a
 * wait may last. Also notices a rank that no longer answers. A rank that works is not waiting, however long it takes.
 *
 * <p>Only time in which somebody watches counts: between two looks at most a quarter of the timeout. So a process that was
 * stopped for an hour, or a coordinator that a slow disk held up, goes on.
 *
 * <p>Thread rule: none; one caller at a time. Times are nanoseconds of one monotonic clock.
 */
public final class StallWatch {
    private static final int LOOKS_PER_TIMEOUT = 4;

    private final int rankCount;
    private final long timeoutNanos;
    private final Map<Integer, RankStatus> statuses = new TreeMap<>();
    private final Map<Integer, Long> answeredNanos = new TreeMap<>();
    private long lookedNanos;
    // These two, and answeredNanos, are on the clock of the time watched.
    private long watchedNanos;
    private long movedNanos;

    public StallWatch(int rankCount, long timeoutNanos, long nowNanos) {
        this.rankCount = rankCount;
        this.timeoutNanos = timeoutNanos;
        this.lookedNanos = nowNanos;
        for (int rank = 0; rank < rankCount; rank++) {
            answeredNanos.put(rank, 0L);
        }
    }

    /** Takes in what a rank says of itself. */
    public void onStatus(RankStatus status, long nowNanos) {
        look(nowNanos);
        RankStatus before = statuses.put(status.rank(), status);
        answeredNanos.put(status.rank(), watchedNanos);
        if (status.isWorking() || before == null || before.moves() != status.moves()) {
            movedNanos = watchedNanos;
        }
    }

    /** What stands still, in one sentence; empty while the run moves. */
    public Optional<String> stall(long nowNanos) {
        look(nowNanos);
        Optional<Integer> silent = answeredNanos.entrySet().stream()
                .filter(entry -> watchedNanos - entry.getValue() > timeoutNanos).map(Map.Entry::getKey)
                .min(Comparator.naturalOrder());
        if (silent.isPresent()) {
            return Optional.of("rank " + silent.get() + " has not answered the coordinator for "
                    + seconds(watchedNanos - answeredNanos.get(silent.get())) + " seconds");
        }
        if (statuses.size() < rankCount || watchedNanos - movedNanos <= timeoutNanos) {
            return Optional.empty();
        }
        return Optional.of("no rank has moved for " + seconds(watchedNanos - movedNanos)
                + " seconds (transport.timeout is " + seconds(timeoutNanos) + "): "
                + describe(List.copyOf(statuses.values())));
    }

    private void look(long nowNanos) {
        watchedNanos += Math.min(nowNanos - lookedNanos, timeoutNanos / LOOKS_PER_TIMEOUT); // rounded down
        lookedNanos = nowNanos;
    }

    private static String describe(List<RankStatus> statuses) {
        return statuses.stream().map(status -> "rank " + status.rank() + " is " + status.situation())
                .collect(Collectors.joining("; "));
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f", nanos / 1e9);
    }
}
