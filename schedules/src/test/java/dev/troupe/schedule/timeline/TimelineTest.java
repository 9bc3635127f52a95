package dev.troupe.schedule.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.GPipe;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.family.ZeroBubbleV;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class TimelineTest {
    @Test
    void shouldPutSpansInOrderAndFindWhoWaitedForWhom() {
        Timeline timeline = new Timeline("measured", 2, 2, List.of(span(1, "1B0", 6, 9), span(0, "0B0", 9, 12),
                span(1, "1F0", 4, 6), span(0, "0F0", 0, 3), span(0, "0SEND_F0", 3, 3)));
        assertEquals(List.of(span(1, "1F0", 4, 6), span(1, "1B0", 6, 9)), timeline.spansOf(1));
        assertEquals(List.of(new Transfer(span(1, "1B0", 6, 9), span(0, "0B0", 9, 12)),
                new Transfer(span(0, "0F0", 0, 3), span(1, "1F0", 4, 6))), timeline.transfers());
        assertEquals(12, timeline.endNanos());
        assertEquals(6, timeline.busyNanos(0));
        assertEquals(13.0 / 11, timeline.bubbleOverIdeal());
        assertEquals(13.0 / 24, timeline.bubbleOverTotal());
    }

    @Test
    void shouldHandNothingOverWithinARank() {
        Plan zbv = new ZeroBubbleV().plan(2, 2, 3);
        Timeline timeline = Simulator.run(zbv, Costs.units(4)).timeline("zbv");
        // 0 to 1 and 2 to 3, there and back, three microbatches each; 1 to 2 stays on rank 1.
        assertEquals(12, timeline.transfers().size());
    }

    @Test
    void shouldAgreeWithTheSimulationItWasMadeOf() {
        Simulation simulation = Simulator.run(new GPipe().plan(4, 1, 8), Costs.units(4));
        Timeline timeline = simulation.timeline("gpipe");
        assertEquals(simulation.makespanNanos(), timeline.endNanos());
        assertEquals(3.0 / 8, timeline.bubbleOverIdeal());
        assertEquals(3.0 / 11, timeline.bubbleOverTotal());
    }

    @Test
    void shouldCountLiveActivationsAndTensorsInFlight() {
        Timeline timeline = Simulator.run(new OneForwardOneBackward().plan(4, 1, 8), Costs.units(4)).timeline("1f1b");
        assertEquals(List.of(4, 3, 2, 1), IntStream.range(0, 4).mapToObj(timeline::peakActivations).toList());
        // A hop of no time and equal stages: each tensor is taken as soon as it is made. With three units there are three.
        Timeline gpipe = Simulator.run(new GPipe().plan(2, 1, 4), Costs.units(2)).timeline("gpipe");
        assertEquals(0, gpipe.peakInFlight(transfer -> 1));
        Timeline slow = Simulator.run(new GPipe().plan(2, 1, 4),
                Costs.uniform(2, new StageCost(1, 1, 1, 8), new Hop(3, Double.POSITIVE_INFINITY))).timeline("slow");
        assertEquals(3, slow.peakInFlight(transfer -> 1));
        assertEquals(24, slow.peakInFlight(transfer -> 8));
        Timeline longer = Simulator.run(new GPipe().plan(4, 1, 4),
                Costs.uniform(4, new StageCost(1, 1, 1, 8), new Hop(3, Double.POSITIVE_INFINITY))).timeline("slow");
        assertEquals(3, longer.peakInFlight(transfer -> 1), "in front of one rank, however many ranks there are");
    }

    @Test
    void shouldRefuseSpansThatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> span(0, "0F0", 3, 2));
        assertThrows(IllegalArgumentException.class,
                () -> new Timeline("wrong", 1, 1, List.of(span(1, "0F0", 0, 1))));
        assertThrows(IllegalArgumentException.class,
                () -> new Timeline("wrong", 1, 1, List.of(span(0, "1F0", 0, 1))));
    }

    private static Span span(int rank, String action, long start, long end) {
        return new Span(rank, Action.parse(action), start, end);
    }
}
