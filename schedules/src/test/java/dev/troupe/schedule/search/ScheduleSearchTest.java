package dev.troupe.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.search.ScheduleSearch.Found;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Units of one F, I and W each, two for each rank, so that 12 chunks are 1.5 times the peak of zbv at P = 4. */
@Tag("plan")
class ScheduleSearchTest {
    /** The best of the eleven that fits, and the share of it that the found plan may take. */
    @ParameterizedTest
    @CsvSource({"4, 8, 1, 12, 65, 0.92", "8, 32, 1, 24, 233, 0.92", "4, 8, 3, 12, 98, 0.95", "8, 32, 3, 24, 357, 0.90"})
    void shouldBeatTheBestScheduleByNameOnSlowLinks(int ranks, int microbatches, int hop, int chunks, long best,
            double share) {
        PlanningProblem problem = units(ranks, hop, chunks);
        ScheduleSearch search = new ScheduleSearch(problem, ranks, microbatches, 3000, 45);
        assertEquals(best, search.named().stream().mapToLong(problem::stepNanos).min().orElseThrow());
        Found found = search.run();
        System.out.printf(Locale.ROOT, "P = %d, M = %d, hop %d: %d units, by name %d, bound %d (%.1f %% above)%n",
                ranks,
                microbatches,
                hop, found.stepNanos(), best, found.boundNanos(), 100 * found.distance());
        assertTrue(found.stepNanos() <= share * best, () -> found.stepNanos() + " units, by name " + best);
        assertSound(problem, found, chunks);
    }

    private static void assertSound(PlanningProblem problem, Found found, int chunks) {
        assertEquals(found.stepNanos(), problem.stepNanos(found.candidate()));
        assertTrue(found.stepNanos() >= found.boundNanos());
        Plan plan = found.candidate().plan();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            assertTrue(problem.bytes(rank, found.candidate()) <= chunks, problem.refusal(found.candidate())::toString);
        }
        Plan read = Plan.fromCsv("read", plan.toCsv());
        assertEquals(plan.rows(), read.rows());
        assertEquals(found.certificate().peakActivations(), PlanValidator
                .certify(new AddTransfers().apply(read), Purpose.TRAINING, plan.microbatchCount()).peakActivations());
    }

    @Test
    void shouldTakeZbvOnAFastLink() {
        Found found = new ScheduleSearch(units(4, 0, 12), 4, 8, 100, 45).run();
        assertEquals("zbv", found.candidate().plan().name());
        assertEquals(51, found.stepNanos());
        assertEquals(0, found.distance());
    }

    @Test
    void shouldTakeAScheduleByNameNearTheBoundWithoutASearch() {
        PlanningProblem fast = new PlanningProblem(units(4, 0, 12).units(), units(4, 0, 12).machines(),
                (_, _) -> new Hop(0, 10)); // an output has no bytes
        ScheduleSearch search = new ScheduleSearch(fast, 4, 32, 0, 45);
        Found found = search.run();
        assertTrue(found.isByName() && found.distance() <= ScheduleSearch.NEAR, found::toString);
        assertEquals("zbv", found.candidate().plan().name());
        assertEquals(8, search.peakBytes("zbv").orElseThrow());
    }

    @Test
    void shouldNeedTheLeastCreditsWithWhichTheStepIsNoLonger() {
        PlanningProblem problem = units(4, 3, 12);
        Found found = new ScheduleSearch(problem, 4, 8, 200, 45).run();
        int credits = found.leastCredits(problem.costs(found.candidate()));
        assertEquals(found.stepNanos(),
                Simulator.run(found.certificate().plan(), problem.costs(found.candidate()), credits)
                        .makespanNanos());
        assertTrue(credits > 1 && Simulator.run(found.certificate().plan(), problem.costs(found.candidate()),
                credits - 1).makespanNanos() > found.stepNanos());
    }

    @Test
    void shouldFindOrBeatZbH2WhereItFits() {
        PlanningProblem problem = units(4, 1, 14);
        ScheduleSearch search = new ScheduleSearch(problem, 4, 8, 500, 45);
        long h2 = search.named().stream().filter(each -> each.plan().name().equals("zb-h2"))
                .mapToLong(problem::stepNanos).min().orElseThrow();
        assertTrue(search.run().stepNanos() <= h2);
    }

    @Test
    void shouldFindTheSamePlanWithTheSameSeed() {
        ScheduleSearch search = new ScheduleSearch(units(3, 2, 7), 3, 5, 200, 6);
        assertEquals(search.run().candidate(), search.run().candidate());
    }

    /** A long way makes one stage a rank best, until a gradient of the first and the last stage has to travel too. */
    @Test
    void shouldPutBothEndsOfASharedParameterOnOneRankIfItsGradientIsLong() {
        PlanningProblem far = units(4, 3, 24);
        for (long bytes : new long[]{0, 1000}) {
            PlanningProblem problem = new PlanningProblem(far.units(), far.machines(), (_, _) -> new Hop(3, 1e9),
                    bytes);
            Found found = new ScheduleSearch(problem, 4, 8, 50, 45).run();
            Plan plan = found.candidate().plan();
            assertEquals(bytes > 0, plan.rankOf(0, 0) == plan.rankOf(plan.lastStage(), 0), plan::name);
            assertEquals(found.stepNanos(), problem.stepNanos(found.candidate()));
        }
    }

    @Test
    void shouldStayWithinMemoryAndTheSimulationForUnevenUnits() {
        Random drawn = new Random(8);
        for (int draw = 0; draw < 40; draw++) {
            int ranks = 2 + drawn.nextInt(2);
            List<Unit> units = new ArrayList<>();
            for (int unit = 0; unit < 2 * ranks + drawn.nextInt(3); unit++) {
                units.add(new Unit("unit " + unit, new StageCost(1 + drawn.nextInt(9), 1 + drawn.nextInt(9),
                        1 + drawn.nextInt(9), 4), 5, 1 + drawn.nextInt(3)));
            }
            Hop hop = new Hop(drawn.nextInt(20), 1e9);
            PlanningProblem problem = new PlanningProblem(units, Collections.nCopies(ranks, new Machine(1, 60)),
                    (_, _) -> hop);
            assertSound(problem, new ScheduleSearch(problem, ranks, 1 + drawn.nextInt(6), 30, draw).run(), 60);
        }
    }

    @Test
    void shouldRefuseAMemoryBelowOneMicrobatchWithTheNumber() {
        assertEquals(
                "no plan of 4 ranks fits: with one microbatch at a time rank 0 needs 2 bytes, but its machine 0 has 1: 1"
                        + " too few",
                assertThrows(IllegalArgumentException.class,
                        () -> new ScheduleSearch(units(4, 1, 1), 4, 8, 10, 45).run()).getMessage());
    }

    private static PlanningProblem units(int ranks, int hop, int chunks) {
        return new PlanningProblem(Collections.nCopies(2 * ranks, new Unit("chunk", new StageCost(1, 1, 1, 0), 0, 1)),
                Collections.nCopies(ranks, new Machine(1, chunks)),
                (_, _) -> new Hop(hop, Double.POSITIVE_INFINITY));
    }
}
