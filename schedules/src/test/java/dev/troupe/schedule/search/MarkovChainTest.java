package dev.troupe.schedule.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.family.ZeroBubbleH1;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.search.MarkovChain.Walked;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class MarkovChainTest {
    private static final List<List<Integer>> PLACEMENTS = List.of(List.of(0, 1, 2), List.of(0, 2, 1), List.of(1, 0, 2),
            List.of(1, 2, 0), List.of(2, 0, 1), List.of(2, 1, 0));

    /** Four layers, three ranks, two microbatches; rows, borders and placements are all free. */
    @Test
    void shouldReachTheBestOfAllRowsBordersAndPlacements() {
        Random drawn = new Random(1);
        for (int draw = 0; draw < 6; draw++) {
            PlanningProblem problem = problem(drawn);
            Candidate start = new Candidate(new OneForwardOneBackward().plan(3, 1, 2), Borders.uniform(4, 3));
            Walked walked = new MarkovChain(problem, 20_000, draw).from(start);
            assertEquals(exhaustive(problem, start), walked.stepNanos(), "draw " + draw);
            assertEquals(walked.stepNanos(), problem.stepNanos(walked.best()));
        }
    }

    private static PlanningProblem problem(Random drawn) {
        List<Unit> units = new ArrayList<>();
        for (int unit = 0; unit < 4; unit++) {
            units.add(new Unit("unit " + unit,
                    new StageCost(1 + drawn.nextInt(9), 1 + drawn.nextInt(9), 1 + drawn.nextInt(9), 2), 0, 0));
        }
        List<Machine> machines = new ArrayList<>();
        long[][] latency = new long[3][3];
        for (int machine = 0; machine < 3; machine++) {
            machines.add(new Machine(1 / (1.0 + drawn.nextInt(3)), Long.MAX_VALUE));
            latency[machine] = drawn.longs(3, 0, 20).toArray();
        }
        return new PlanningProblem(units, machines, (from, to) -> new Hop(latency[from][to], 1e9));
    }

    private static long exhaustive(PlanningProblem problem, Candidate start) {
        List<List<List<Action>>> rows = new ArrayList<>();
        for (int stage = 0; stage < 3; stage++) {
            rows.add(orders(stage));
        }
        long least = Long.MAX_VALUE;
        for (List<Action> first : rows.get(0)) {
            for (List<Action> second : rows.get(1)) {
                for (List<Action> third : rows.get(2)) {
                    Plan plan = start.plan().withRows(List.of(first, second, third));
                    for (Borders borders : PartitionSearchTest.compositions(4, 3)) {
                        for (List<Integer> machines : PLACEMENTS) {
                            least = Math.min(least, step(problem, new Candidate(plan, borders, machines)));
                        }
                    }
                }
            }
        }
        return least;
    }

    private static long step(PlanningProblem problem, Candidate candidate) {
        try {
            return problem.stepNanos(candidate);
        } catch (PlanException deadlock) {
            return Long.MAX_VALUE;
        }
    }

    /** Returns the six orders of two forwards and their backwards. */
    private static List<List<Action>> orders(int stage) {
        Action f0 = new Action(stage, Kind.FORWARD, 0);
        Action f1 = new Action(stage, Kind.FORWARD, 1);
        Action b0 = f0.as(Kind.FULL_BACKWARD);
        Action b1 = f1.as(Kind.FULL_BACKWARD);
        return List.of(List.of(f0, f1, b0, b1), List.of(f0, f1, b1, b0), List.of(f1, f0, b0, b1),
                List.of(f1, f0, b1, b0), List.of(f0, b0, f1, b1), List.of(f1, b1, f0, b0));
    }

    @Test
    void shouldFindRowsAsShortAsZbH1From1F1BWithTheSameMemory() {
        PlanningProblem problem = unitProblem();
        Plan oneByOne = new OneForwardOneBackward().plan(4, 1, 8);
        Plan halves = oneByOne.withRows(oneByOne.rows().stream()
                .map(row -> row.stream().flatMap(action -> action.kind() == Kind.FULL_BACKWARD
                        ? Stream.of(action.as(Kind.BACKWARD_INPUT), action.as(Kind.BACKWARD_WEIGHT))
                        : Stream.of(action)).toList())
                .toList());
        Candidate start = new Candidate(halves, Borders.uniform(4, 4));
        long zbH1 = problem.stepNanos(start.with(new ZeroBubbleH1().plan(4, 1, 8)));
        Walked walked = new MarkovChain(problem, 500_000, 7).from(start);
        System.out.printf(Locale.ROOT, "zb-h1 %d, found %d from %d; %d priced, %d accepted%n", zbH1, walked.stepNanos(),
                problem.stepNanos(start), walked.priced(), walked.accepted());
        assertTrue(walked.stepNanos() <= zbH1, () -> walked.stepNanos() + " against " + zbH1);
        assertTrue(problem.refusal(walked.best()).isEmpty());
        PlanValidator.certify(new AddTransfers().apply(walked.best().plan()), Purpose.TRAINING, 8);
    }

    /** Four activations a rank, the peak of zb-h1. */
    private static PlanningProblem unitProblem() {
        return new PlanningProblem(Collections.nCopies(4, new Unit("block", new StageCost(1, 1, 1, 0), 0, 1)),
                Collections.nCopies(4, new Machine(1, 4)), (_, _) -> Hop.FREE);
    }

    @Test
    void shouldWalkTheSameWayWithTheSameSeed() {
        Candidate start = new Candidate(new OneForwardOneBackward().plan(3, 1, 2), Borders.uniform(4, 3));
        PlanningProblem problem = problem(new Random(2));
        assertEquals(new MarkovChain(problem, 500, 3).from(start), new MarkovChain(problem, 500, 3).from(start));
    }

    @Test
    void shouldRefuseAStartThatDoesNotFit() {
        Plan plan = new ZeroBubbleH1().plan(4, 1, 8);
        Candidate start = new Candidate(plan.withRows(plan.rows()), Borders.uniform(4, 4));
        PlanningProblem tight = new PlanningProblem(unitProblem().units(), Collections.nCopies(4, new Machine(1, 3)),
                (_, _) -> Hop.FREE);
        assertEquals(
                "a walk begins with a candidate that fits, but rank 0 needs 4 bytes, but its machine 0 has 3: 1 too few",
                assertThrows(IllegalArgumentException.class, () -> new MarkovChain(tight, 10, 1).from(start))
                        .getMessage());
    }
}
