package dev.troupe.protocol.run;

import java.time.Duration;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random walks for any time: {@code -Dtroupe.simulation.minutes=10}. Each run takes other walks, unless
 * {@code -Dtroupe.sweep.seed} is set; a failure names its walk.
 */
@Tag("long")
class FaultSoakTest {
    private static final int WALKS_AT_A_TIME = 500;

    @Test
    void shouldReachTheSameWeightsForTheRequestedTime() {
        long minutes = Long.getLong("troupe.simulation.minutes", 1);
        long endNanos = System.nanoTime() + Duration.ofMinutes(minutes).toNanos();
        Random seeds = new Random(Long.getLong(FaultSweepTest.SEED_PROPERTY, System.nanoTime()));
        long faults = 0;
        long walks = 0;
        while (System.nanoTime() < endNanos) {
            long first = seeds.nextLong();
            faults += InParallel.sum(IntStream.range(0, WALKS_AT_A_TIME).boxed(),
                    walk -> new FaultWalk(first + walk).walk());
            walks += WALKS_AT_A_TIME;
        }
        System.out.printf("soak: %,d walks with %,d faults in %d minutes%n", walks, faults, minutes);
    }
}
