package dev.troupe.schedule.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.family.GPipe;
import dev.troupe.schedule.family.ZeroBubbleH1;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class MeasuredCostsTest {
    private static final Costs.Hops FREE = (from, to) -> Hop.FREE;
    private static final long[] FORWARDS = {10, 900, 11, 12, 5000};

    @Test
    void shouldReadTheCostsOfATimeline() {
        Costs costs = new Costs(List.of(new StageCost(10, 20, 31, 100), new StageCost(50, 60, 70, 200)), FREE);
        Timeline halves = Simulator.run(new ZeroBubbleH1().plan(2, 1, 5), costs).timeline("measured");
        assertEquals(costs.stages(), MeasuredCosts.of(halves, stage -> 100L * (stage + 1), FREE).stages());
        Timeline whole = Simulator.run(new GPipe().plan(2, 1, 5), costs).timeline("measured");
        assertEquals(List.of(new StageCost(10, 25, 26, 100), new StageCost(50, 65, 65, 200)),
                MeasuredCosts.of(whole, stage -> 100L * (stage + 1), FREE).stages());
    }

    /** A step of one stage in which two forwards were held up; a backward takes 20. */
    private static Timeline heldUp() {
        List<Span> spans = new ArrayList<>();
        for (int microbatch = 0; microbatch < FORWARDS.length; microbatch++) {
            long start = 10_000L * microbatch;
            spans.add(new Span(0, Action.parse("0F" + microbatch), start, start + FORWARDS[microbatch]));
            spans.add(new Span(0, Action.parse("0B" + microbatch), start + 6000, start + 6020));
        }
        return new Timeline("measured", 1, 1, spans);
    }

    @Test
    void shouldIgnoreActionsThatWereHeldUp() {
        Costs costs = MeasuredCosts.of(heldUp(), stage -> 0, FREE);
        assertEquals(List.of(new StageCost(12, 10, 10, 0)), costs.stages());
    }

    @Test
    void shouldLetTheTimesOfAStepGoAroundTogether() {
        List<Span> spans = new ArrayList<>();
        for (int microbatch = FORWARDS.length - 1; microbatch >= 0; microbatch--) { // the later ones first
            long start = 10_000L * (FORWARDS.length - microbatch);
            spans.add(new Span(0, new Action(0, Kind.FORWARD, microbatch), start, start + FORWARDS[microbatch]));
            spans.add(new Span(0, new Action(0, Kind.FULL_BACKWARD, microbatch), start + 6000,
                    start + 6000 + 2 * FORWARDS[microbatch]));
        }
        Timeline step = new Timeline("measured", 1, 1, spans);
        List<StageCost> stages = List.of(MeasuredCosts.of(step, stage -> 0, FREE).stages().getFirst().plus(7));
        Set<Integer> shifts = new HashSet<>();
        Random drawn = new Random(1);
        for (int draw = 0; draw < 100; draw++) {
            Costs costs = new Costs(stages, FREE, 0, MeasuredCosts.shifted(step, stages, 7, drawn));
            shifts.add(IntStream.range(0, FORWARDS.length)
                    .filter(by -> IntStream.range(0, FORWARDS.length).allMatch(microbatch -> {
                        long nanos = FORWARDS[(microbatch + by) % FORWARDS.length];
                        return costs.nanos(0, Kind.FORWARD, microbatch) == nanos + 7
                                && costs.nanos(0, Kind.FULL_BACKWARD, microbatch) == 2 * nanos + 7;
                    })).findFirst().orElseThrow());
            assertEquals(3 * LongStream.of(FORWARDS).sum() + 2 * 5 * 7,
                    Simulator.run(new GPipe().plan(1, 1, 5), costs).makespanNanos());
        }
        assertEquals(Set.of(0, 1, 2, 3, 4), shifts);
    }

    @Test
    void shouldRefuseAStageThatWasNotMeasured() {
        Timeline timeline = new Timeline("measured", 1, 1, List.of(new Span(0, Action.parse("0F0"), 0, 1)));
        assertEquals(
                "stage 0 needs an F and a B, or an I and a W, to have its costs read off, but was measured with [F]",
                assertThrows(IllegalArgumentException.class, () -> MeasuredCosts.of(timeline, stage -> 0, FREE))
                        .getMessage());
    }
}
