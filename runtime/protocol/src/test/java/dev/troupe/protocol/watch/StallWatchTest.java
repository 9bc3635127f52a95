package dev.troupe.protocol.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** Times by hand, in seconds; the timeout is 20 and two ranks are watched. */
class StallWatchTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long STARTED = -5 * SECOND; // a monotonic clock may be negative

    private final StallWatch watch = new StallWatch(2, 20 * SECOND, 0, 0, STARTED);

    @Test
    void shouldNameEveryRankAndItsWaitOnceNothingHasMovedForTheTimeout() {
        everySecond(1, 20, now -> {
            tell(0, 4, false, now);
            tell(1, 9, false, now);
            assertEquals(Optional.empty(), watch.stall(at(now)));
        });
        tell(0, 4, false, 21);
        tell(1, 9, false, 21);
        assertEquals(Optional.empty(), watch.stall(at(21)), "first seen at 1, so 20 seconds, not more");
        tell(0, 4, false, 22);
        tell(1, 9, false, 22);
        assertEquals(new Reported(OptionalInt.empty(),
                "no rank has moved for 21.0 seconds (transport.timeout is 20.0): rank 0 is waiting for"
                        + " rain; rank 1 is waiting for rain"),
                reported(watch, at(22)));
    }

    @Test
    void shouldLetARankComputeAsLongAsItLikes() {
        everySecond(1, 200, now -> {
            tell(0, 4, true, now);
            tell(1, 9, false, now);
            assertEquals(Optional.empty(), watch.stall(at(now)));
        });
    }

    @Test
    void shouldSeeThatARankMovesBetweenTwoLooks() {
        everySecond(1, 200, now -> {
            tell(0, now / 10, false, now);
            tell(1, 9, false, now);
            assertEquals(Optional.empty(), watch.stall(at(now)));
        });
    }

    @Test
    void shouldNameARankThatDoesNotAnswer() {
        everySecond(1, 20, now -> {
            tell(0, now, false, now);
            assertEquals(Optional.empty(), watch.stall(at(now)));
        });
        tell(0, 21, false, 21);
        assertEquals(new Reported(OptionalInt.of(1), "rank 1 has not answered the coordinator for 21.0 seconds"),
                reported(watch, at(21)));
    }

    @Test
    void shouldNotCountTimeInWhichNobodyWatched() {
        everySecond(1, 10, now -> {
            tell(0, 4, false, now);
            tell(1, 9, false, now);
        });
        assertEquals(Optional.empty(), watch.stall(at(3600)), "the process was stopped for an hour");
        everySecond(3601, 3605, now -> {
            tell(0, 4, false, now);
            tell(1, 9, false, now);
            assertEquals(Optional.empty(), watch.stall(at(now)), "9 seconds, 5 of the hour, and these");
        });
        tell(0, 4, false, 3608);
        tell(1, 9, false, 3608);
        assertTrue(watch.stall(at(3608)).isPresent(), "but it continues to count");
    }

    @Test
    void shouldNameARankThatPausesMuchLongerThanAnyEverDid() {
        StallWatch hanging = new StallWatch(1, 20 * SECOND, 30 * SECOND, 0, STARTED);
        everySecond(1, 9, now -> hanging
                .onStatus(new RankStatus(0, now / 4, true, "computing 0F0", Optional.empty(), List.of()), at(now)));
        everySecond(10, 48, now -> {
            hanging.onStatus(new RankStatus(0, 2, true, "computing 0F1", Optional.empty(), List.of()), at(now));
            assertEquals(Optional.empty(), hanging.stall(at(now)), "not yet after " + now + " seconds");
        });
        hanging.onStatus(new RankStatus(0, 2, true, "computing 0F1", Optional.empty(), List.of()), at(49));
        assertEquals(
                new Reported(OptionalInt.of(0),
                        "rank 0 hangs: it has been computing 0F1 for 41.0 seconds without ending a"
                                + " kernel or moving a byte, and no rank took more than 4.0 s for that"),
                reported(hanging, at(49)));
    }

    /** A quarter of the timeout is longer than the hang timeout. */
    @Test
    void shouldNotTakeARankForHangingIfTheProcessWasStopped() {
        StallWatch stopped = new StallWatch(1, 20 * SECOND, 4 * SECOND, 0, STARTED);
        stopped.onStatus(working(7), at(1));
        stopped.onStatus(working(7), at(3600));
        assertEquals(Optional.empty(), stopped.stall(at(3600)), "the process was stopped for an hour");
        everySecond(3601, 3603, now -> {
            stopped.onStatus(working(7), at(now));
            assertEquals(Optional.empty(), stopped.stall(at(now)), "4 seconds, 1 of the hour, and these");
        });
        stopped.onStatus(working(7), at(3604));
        assertEquals(OptionalInt.of(0), stopped.stall(at(3604)).orElseThrow().rank(), "but it continues to count");
    }

    /** An engine a hundred times slower: the first action takes an hour, each of its kernels twenty seconds. */
    @Test
    void shouldLetTheFirstActionTakeAnHourWhileKernelsEnd() {
        StallWatch slow = new StallWatch(1, 20 * SECOND, 30 * SECOND, 0, STARTED);
        everySecond(1, 3600, now -> {
            slow.onStatus(working(now / 20), at(now));
            assertEquals(Optional.empty(), slow.stall(at(now)), "after " + now + " seconds");
        });
    }

    /** The warm-up has reported a product of 40 seconds; no rank has ended one in the run yet. */
    @Test
    void shouldWaitForTenTimesTheLongestKernelOfTheWarmUp() {
        StallWatch slow = new StallWatch(1, 20 * SECOND, 30 * SECOND, 40 * SECOND, STARTED);
        everySecond(1, 401, now -> {
            slow.onStatus(working(7), at(now));
            assertEquals(Optional.empty(), slow.stall(at(now)), "after " + now + " seconds");
        });
        slow.onStatus(working(7), at(402));
        assertEquals(OptionalInt.of(0), slow.stall(at(402)).orElseThrow().rank());
    }

    /** A rank that waits for a checkpoint waits for a message of the coordinator. */
    @Test
    void shouldLetRanksWaitForRanksThatMove() {
        everySecond(1, 300, now -> {
            tell(0, 4, false, now);
            tell(1, 9, false, now);
            watch.onMoved(at(now));
            assertEquals(Optional.empty(), watch.stall(at(now)));
        });
        everySecond(301, 321, now -> {
            tell(0, 4, false, now);
            tell(1, 9, false, now);
        });
        assertTrue(watch.stall(at(321)).isPresent(), "it moves no more");
    }

    private static RankStatus working(long moves) {
        return new RankStatus(0, moves, true, "computing 0F0", Optional.empty(), List.of());
    }

    @Test
    void shouldReportSinceWhenEachRankHasNotMoved() {
        everySecond(1, 22, now -> {
            tell(0, Math.min(now, 4), false, now);
            tell(1, 9, false, now);
        });
        everySecond(23, 25, now -> {
            tell(0, 4, false, now);
            tell(1, 9, false, now);
        });
        assertEquals(List.of(21 * SECOND, 24 * SECOND),
                watch.stall(at(25)).orElseThrow().ranks().stream().map(StallWatch.Standstill::nanos).toList());
    }

    private record Reported(OptionalInt rank, String sentence) {
    }

    private static Reported reported(StallWatch watch, long nowNanos) {
        StallWatch.Stall stall = watch.stall(nowNanos).orElseThrow();
        return new Reported(stall.rank(), stall.sentence());
    }

    private static void everySecond(long first, long last, LongConsumer look) {
        for (long now = first; now <= last; now++) {
            look.accept(now);
        }
    }

    private void tell(int rank, long moves, boolean isWorking, long now) {
        watch.onStatus(new RankStatus(rank, moves, isWorking, "waiting for rain", Optional.empty(), List.of()),
                at(now));
    }

    private static long at(long seconds) {
        return STARTED + seconds * SECOND;
    }
}
