package dev.troupe.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class BackwardsTest {
    @Test
    void shouldMergeOnlyHalvesOfOneBackwardThatStandSideBySide() {
        Plan plan = Plan.fromCsv("hand", Placement.LOOP, "0F0,0F1,0F2,0I0,0W0,0I1,0I2,0W1,0W2\n");
        assertEquals("0F0,0F1,0F2,0B0,0I1,0I2,0W1,0W2\n", Backwards.merge(plan).toCsv());
    }

    @Test
    void shouldSplitEveryBackward() {
        Plan plan = Plan.fromCsv("hand", Placement.LOOP, "0F0,0B0,0F1,0I1,0W1\n");
        assertEquals("0F0,0I0,0W0,0F1,0I1,0W1\n", Backwards.split(plan).toCsv());
        assertEquals("0F0,0B0,0F1,0B1\n", Backwards.merge(Backwards.split(plan)).toCsv());
    }

    @Test
    void shouldKeepThePairs() {
        Plan plan = Plan.fromCsv("hand", Placement.LOOP, "0F0,0F1,0I0,0W0,(0F2;0B1)OVERLAP_F_B,0B2\n");
        assertEquals("0F0,0F1,0B0,(0F2;0B1)OVERLAP_F_B,0B2\n", Backwards.merge(plan).toCsv());
        assertEquals("0F0,0F1,0I0,0W0,(0F2;0I1)OVERLAP_F_B,0W1,0I2,0W2\n", Backwards.split(plan).toCsv());
    }
}
