package dev.troupe.plan.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.schedule.simulator.Hop;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class RankLinksTest {
    private static final Hop INSIDE = new Hop(1, 1e10);
    private static final Hop FAST = new Hop(10, 1e9);
    /** From machine 1 to machine 2. */
    private static final Hop SLOW = new Hop(90, 1e7);
    private static final MachineFigures THREE = new MachineFigures(1e9, 2, INSIDE, new Hop(7, 7),
            OptionalLong.empty()).withMeasured(
                    List.of(List.of(Hop.FREE, FAST, FAST), List.of(FAST, Hop.FREE, SLOW),
                            List.of(FAST, FAST, Hop.FREE)));

    private static RankLinks links(int pipeline, int tensor, int data) {
        return RankLinks.of(new PlanGrid(pipeline, tensor, data, 1, 6), THREE);
    }

    @Test
    void shouldTakeTheMeasuredWayOfEachBorderAndDirection() {
        RankLinks line = links(3, 1, 2); // one stage on each machine
        assertEquals(FAST, line.between(0, 1));
        assertEquals(SLOW, line.between(1, 2));
        assertEquals(FAST, line.between(2, 1));
        assertEquals(INSIDE, line.data(1).slowest());
        assertEquals(INSIDE, links(6, 1, 1).between(2, 3));
    }

    /** Ring 0, 1, 2: the way from machine 1 to machine 2 counts. */
    @Test
    void shouldTakeTheSlowestMeasuredWayOfAGroup() {
        assertEquals(SLOW, links(1, 1, 6).data(0).slowest());
        assertEquals(FAST, links(1, 1, 4).data(0).slowest());
        assertEquals(SLOW, links(1, 3, 2).tensor().slowest());
    }
}
