package dev.troupe.rank.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.rank.idle.RankTimes.Pause;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PausesTest {
    private static final long ALLOWED_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    @Test
    void shouldReportACollectionWithinItsTimes() throws InterruptedException {
        BlockingQueue<Pause> told = new LinkedBlockingQueue<>();
        try (CollectionPauses _ = new CollectionPauses(told::add)) {
            long before = System.nanoTime();
            ManagementFactory.getMemoryMXBean().gc();
            long after = System.nanoTime();
            Pause pause = told.poll(60, TimeUnit.SECONDS);
            assertNotNull(pause, "no collection was told of in a minute");
            assertTrue(
                    pause.fromNanos() >= before - ALLOWED_NANOS && pause.toNanos() > pause.fromNanos()
                            && pause.toNanos() <= after + ALLOWED_NANOS,
                    pause + " of a collection from " + before + " to " + after);
        }
    }

    @Test
    void shouldJoinPausesThatAreReportedTwiceOrLate() {
        Pauses pauses = new Pauses();
        pauses.add(new Pause(10, 20));
        pauses.add(new Pause(40, 50));
        pauses.add(new Pause(15, 30));
        pauses.add(new Pause(60, 70));
        pauses.add(new Pause(55, 65));
        assertEquals(List.of(new Pause(10, 30), new Pause(40, 50), new Pause(55, 70)), pauses.since(0));
        assertEquals(List.of(new Pause(40, 50), new Pause(55, 70)), pauses.since(30));
    }
}
