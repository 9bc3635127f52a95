package dev.troupe.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.fault.FaultKind.Reach;
import dev.troupe.config.fault.FaultSpec;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class RandomFaultsTest {
    private static final RandomFaults.Places PLACES = new RandomFaults.Places(4, 5000, 8);

    @Test
    void shouldDrawTheSameFromTheSameSeed() {
        assertEquals(RandomFaults.draw(3, 20, 1, true, PLACES), RandomFaults.draw(3, 20, 1, true, PLACES));
        assertNotEquals(RandomFaults.draw(3, 20, 1, true, PLACES), RandomFaults.draw(4, 20, 1, true, PLACES));
    }

    @Test
    void shouldDrawAsManyAsTheMeanTimeSays() {
        int count = RandomFaults.draw(1, 20, 1, true, PLACES).size();
        assertTrue(count > 200 && count < 300, "5000 s at one in 20 s are 250, but found " + count);
    }

    @Test
    void shouldDrawWhatCanStrike() {
        List<FaultSpec> faults = RandomFaults.draw(1, 5, 1, false, PLACES);
        for (FaultSpec fault : faults) {
            assertTrue(fault.kind().reach() != Reach.PROCESS, fault::text);
            assertTrue(fault.step().getAsLong() < 5000 && fault.stage().getAsInt() < 4, fault::text);
        }
        assertEquals(faults.stream().map(fault -> fault.step().getAsLong()).sorted().toList(),
                faults.stream().map(fault -> fault.step().getAsLong()).toList());
        assertTrue(faults.stream().map(FaultSpec::kind).distinct().count() > 5);
        assertTrue(RandomFaults.draw(1, 5, 1, true, PLACES).stream()
                .anyMatch(fault -> fault.kind().reach() == Reach.PROCESS));
    }
}
