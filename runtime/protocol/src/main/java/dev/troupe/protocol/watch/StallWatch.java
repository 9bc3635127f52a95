package dev.troupe.protocol.watch;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The detector of a stalled run: no rank works, every rank waits for a message, and nothing has moved for longer than the
 * timeout. It also detects a rank that no longer answers, and a rank that hangs. A rank hangs if it works without finishing
 * a kernel or moving a byte for far longer than any rank ever has.
 *
 * <p>Between two calls at most a quarter of the shorter timeout counts. So a process that was stopped for an hour, or a
 * coordinator that waited for a slow disk, sees no stall.
 *
 * <p>Thread rule: none; one caller at a time. Times are nanoseconds of one monotonic clock.
 */
public final class StallWatch {
    /** The least number of calls within each timeout. */
    private static final int LOOKS_PER_TIMEOUT = 4;
    /** The factor of the longest finished pause of any rank's pulse after which a rank hangs. */
    private static final int TIMES_THE_LONGEST = 10;

    /**
     * A stall, with the status of all ranks.
     *
     * @param rank the rank at fault; empty if all wait
     * @param ranks the last status of every rank that has answered, by rank
     */
    public record Stall(OptionalInt rank, String sentence, List<Standstill> ranks) {
        public Stall {
            ranks = List.copyOf(ranks);
        }
    }

    /** The last status of a rank, and the time since its last move. */
    public record Standstill(RankStatus status, long nanos) {
    }

    /** The last progress of a rank. */
    private static final class Work {
        private long moves = -1;
        private long sinceNanos;
        private long movedNanos;
    }

    private final int rankCount;
    private final long timeoutNanos;
    private final long hangNanos;
    private final long mostOfLookNanos;
    private final Map<Integer, RankStatus> statuses = new TreeMap<>();
    private final Map<Integer, Long> answeredNanos = new TreeMap<>();
    private final Map<Integer, Work> works = new TreeMap<>();
    private long longestNanos;
    private long lookedNanos;
    // On the clock of counted time, as answeredNanos.
    private long watchedNanos;
    private long movedNanos;

    /**
     * @param hangNanos the time without progress that is never a hang; 0 if no rank is ever taken to hang
     * @param longestKernelNanos the time of the longest known kernel of the run
     */
    public StallWatch(int rankCount, long timeoutNanos, long hangNanos, long longestKernelNanos, long nowNanos) {
        this.longestNanos = longestKernelNanos;
        this.rankCount = rankCount;
        this.timeoutNanos = timeoutNanos;
        this.hangNanos = hangNanos;
        this.mostOfLookNanos = (hangNanos > 0 ? Math.min(timeoutNanos, hangNanos) : timeoutNanos) / LOOKS_PER_TIMEOUT;
        this.lookedNanos = nowNanos;
        for (int rank = 0; rank < rankCount; rank++) {
            answeredNanos.put(rank, 0L);
        }
    }

    /** Records that something moves for which ranks wait. */
    public void onMoved(long nowNanos) {
        look(nowNanos);
        movedNanos = watchedNanos;
    }

    public void onStatus(RankStatus status, long nowNanos) {
        look(nowNanos);
        RankStatus before = statuses.put(status.rank(), status);
        answeredNanos.put(status.rank(), watchedNanos);
        if (status.isWorking() || before == null || before.moves() != status.moves()) {
            movedNanos = watchedNanos;
        }
        Work work = works.computeIfAbsent(status.rank(), _ -> new Work());
        if (work.moves != status.moves()) {
            work.movedNanos = watchedNanos;
        }
        if (!status.isWorking() || work.moves != status.moves()) {
            longestNanos = Math.max(longestNanos, work.moves < 0 ? 0 : watchedNanos - work.sinceNanos);
            work.moves = status.moves();
            work.sinceNanos = watchedNanos;
        }
    }

    /** Returns the stall; empty while the run moves. */
    public Optional<Stall> stall(long nowNanos) {
        look(nowNanos);
        Optional<Integer> silent = answeredNanos.entrySet().stream()
                .filter(entry -> watchedNanos - entry.getValue() > timeoutNanos).map(Map.Entry::getKey)
                .min(Comparator.naturalOrder());
        if (silent.isPresent()) {
            return Optional.of(stalled(OptionalInt.of(silent.get()),
                    "rank " + silent.get() + " has not answered the coordinator for "
                            + seconds(watchedNanos - answeredNanos.get(silent.get())) + " seconds"));
        }
        for (RankStatus status : statuses.values()) {
            long nanos = watchedNanos - works.get(status.rank()).sinceNanos;
            if (hangNanos > 0 && status.isWorking() && nanos > Math.max(hangNanos, TIMES_THE_LONGEST * longestNanos)) {
                return Optional.of(stalled(OptionalInt.of(status.rank()),
                        "rank " + status.rank() + " hangs: it has been " + status.situation() + " for "
                                + seconds(nanos) + " seconds without ending a kernel or moving a byte, and no rank"
                                + " took more than " + seconds(longestNanos) + " s for that"));
            }
        }
        if (statuses.size() < rankCount || watchedNanos - movedNanos <= timeoutNanos) {
            return Optional.empty();
        }
        return Optional.of(stalled(OptionalInt.empty(), "no rank has moved for " + seconds(watchedNanos - movedNanos)
                + " seconds (transport.timeout is " + seconds(timeoutNanos) + "): "
                + describe(List.copyOf(statuses.values()))));
    }

    private Stall stalled(OptionalInt rank, String sentence) {
        return new Stall(rank, sentence, statuses.values().stream()
                .map(status -> new Standstill(status, watchedNanos - works.get(status.rank()).movedNanos)).toList());
    }

    private void look(long nowNanos) {
        watchedNanos += Math.min(nowNanos - lookedNanos, mostOfLookNanos);
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
