package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several things go wrong in one run. The command that repeats a failure is in its message. */
@Tag("simulation")
class FaultWalkTest {
    private static final int WALKS = 1_500;

    @Test
    void shouldComeToTheSameWeightsHoweverOftenThingsGoWrong() {
        LongStream seeds = new Random().longs(WALKS);
        long faults = seeds.parallel().map(seed -> new FaultWalk(seed).walk()).sum();
        assertTrue(faults > WALKS, "hardly anything went wrong: " + faults);
    }

    @Test
    void shouldWalkTheSeedThatIsNamed() {
        assertTrue(new FaultWalk(Long.getLong(FaultWalk.SEED_PROPERTY, 3)).walk() > 0);
    }
}
