package dev.troupe.machine;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Notices that a run stands still: no rank computes, every rank waits for another's message, and nothing has moved for
 * as long as a wait may last. Also notices a rank that no longer answers. A rank that computes is not waiting, however
 * long it takes.
 *
 * <p>Thread rule: none; one caller at a time. Times are nanoseconds of one monotonic clock.
 */
public final class StallWatch {
    private final int rankCount;
    private final long timeoutNanos;
    private final Map<Integer, RankStatus> statuses = new TreeMap<>();
    private final Map<Integer, Long> answeredNanos = new TreeMap<>();
    private long movedNanos;

    public StallWatch(int rankCount, long timeoutNanos, long nowNanos) {
        this.rankCount = rankCount;
        this.timeoutNanos = timeoutNanos;
        this.movedNanos = nowNanos;
        for (int rank = 0; rank < rankCount; rank++) {
            answeredNanos.put(rank, nowNanos);
        }
    }

    /** Takes in what a rank says of itself. */
    public void onStatus(RankStatus status, long nowNanos) {
        RankStatus before = statuses.put(status.rank(), status);
        answeredNanos.put(status.rank(), nowNanos);
        if (!status.awaitsMessage() || before == null || before.moves() != status.moves()) {
            movedNanos = nowNanos;
        }
    }

    /** What stands still, in one sentence; empty while the run moves. */
    public Optional<String> stall(long nowNanos) {
        Optional<Integer> silent = answeredNanos.entrySet().stream()
                .filter(entry -> nowNanos - entry.getValue() > timeoutNanos).map(Map.Entry::getKey)
                .min(Comparator.naturalOrder());
        if (silent.isPresent()) {
            return Optional.of("rank " + silent.get() + " has not answered the coordinator for "
                    + seconds(nowNanos - answeredNanos.get(silent.get())) + " seconds");
        }
        if (statuses.size() < rankCount || nowNanos - movedNanos <= timeoutNanos) {
            return Optional.empty();
        }
        return Optional.of("no rank has moved for " + seconds(nowNanos - movedNanos) + " seconds (transport.timeout is "
                + seconds(timeoutNanos) + "): " + describe(List.copyOf(statuses.values())));
    }

    private static String describe(List<RankStatus> statuses) {
        return statuses.stream().map(status -> "rank " + status.rank() + " is " + status.situation())
                .collect(Collectors.joining("; "));
    }

    private static String seconds(long nanos) {
        return String.format(java.util.Locale.ROOT, "%.1f", nanos / 1e9);
    }
}
