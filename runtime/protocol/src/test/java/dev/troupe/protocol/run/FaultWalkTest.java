package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Several things go wrong in one run. The command that repeats a failure is in its message. The walks follow from
 * {@code -Dtroupe.sweep.seed=N}, as in {@link FaultSweepTest}: a build without a change walks if the one before it walked,
 * and continuous integration gives every commit walks of its own.
 */
@Tag("simulation")
class FaultWalkTest {
    private static final int WALKS = 1_500;
    private static final long FAULTY_SEED = 3;

    @Test
    void shouldReachTheSameWeightsAfterManyFaults() {
        long faults = InParallel.sum(new Random(FaultSweepTest.DEALER).longs(WALKS).boxed(),
                seed -> new FaultWalk(seed).walk());
        assertTrue(faults > WALKS, "hardly anything went wrong: " + faults);
    }

    @Test
    void shouldWalkTheSeedThatIsNamed() {
        long seed = Long.getLong(FaultWalk.SEED_PROPERTY, FAULTY_SEED);
        int faults = new FaultWalk(seed).walk();
        assertTrue(faults > 0 || seed != FAULTY_SEED, "the walk of seed " + FAULTY_SEED + " has no fault");
    }
}
