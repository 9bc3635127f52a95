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
 * The detector of a stalled run: no rank works, every rank waits for a message, and nothing has moved for longer than a wait
 * may last. It also detects a rank that no longer answers, and one that hangs: it is at work, but ends no kernel and moves
 * no byte for far longer than any rank ever took for that. A rank that moves may take any time for an action.
 *
 * <p>Only time in which somebody watches counts: between two looks at most a quarter of the timeout, or of the hang timeout
 * if that is less. So a process that was stopped for an hour, or a coordinator that waited for a slow disk, continues.
 *
 * <p>Thread rule: none; one caller at a time. Times are nanoseconds of one monotonic clock.
 */
public final class StallWatch {
    /** The least number of looks in a timeout of either kind. */
    private static final int LOOKS_PER_TIMEOUT = 4;
    /** A rank hangs if its pulse pauses for this many times the longest pause that any rank made and ended. */
    private static final int TIMES_THE_LONGEST = 10;

    /**
     * A stall.
     *
     * @param rank the rank at fault; empty if all wait
     * @param sentence the stall in words
     * @param ranks the last status of every rank that ever answered, by rank
     */
    public record Stall(OptionalInt rank, String sentence, List<Standstill> ranks) {
        public Stall {
            ranks = List.copyOf(ranks);
        }
    }

    /** The last status of a rank, and the time without a move by then. */
    public record Standstill(RankStatus status, long nanos) {
    }

    /** The action of a rank, and its start. */
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
    // These two, and answeredNanos, are on the clock of the time watched.
    private long watchedNanos;
    private long movedNanos;

    /**
     * @param hangNanos the time without progress that a rank at work may take in any case; 0 for ever
     * @param longestKernelNanos the time of the longest kernel of the run, as far as it is known
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

    /** Takes note that something moves for which ranks wait. */
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
