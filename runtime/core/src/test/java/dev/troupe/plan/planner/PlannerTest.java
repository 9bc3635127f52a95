package dev.troupe.plan.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.conformance.share.Deal;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.plan.OptimizerChoice;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.memory.RankMemory;
import dev.troupe.plan.planner.machine.MeasuredPlacement;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.prepare.SizedRun;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Hop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntFunction;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class PlannerTest {
    /** Of the budgets below the largest; the best step of a smaller budget is never shorter, as {@link #all} shows. */
    private static final int SHARES = 5;
    private static final double FLOPS = 1e9;
    private static final List<String> SMALL = List.of("engine.kind=reference",
            "model.layers=3", "model.hidden=8", "model.heads=2", "model.sequence-length=16",
            "model.vocabulary-size=256", "parallel.pipeline=1", "training.steps=4", "training.global-batch-size=4",
            "training.microbatch-size=1", "training.validate-every=0");
    private static final MachineFigures SLOW_LINKS = new MachineFigures(FLOPS, 2, new Hop(2_000, 1e9),
            new Hop(20_000, 5e7), OptionalLong.empty());

    /** Machines of one speed. */
    private static final IntFunction<List<double[]>> SPEEDS = stages -> List.of(DoubleStream.generate(() -> 1)
            .limit(stages).toArray());

    @TempDir
    private Path home;

    private OpenedRun open(RunSpec spec) {
        return OpenedRun.of(new RunRequest(spec, new byte[4096], home.resolve("run"), Optional.empty(),
                OptionalLong.empty()));
    }

    private static RunSpec small() {
        return RunSpecReader.read(Optional.empty(), SMALL);
    }

    private static PlanRequest request(int ranks, long memoryBytes) {
        return new PlanRequest(ranks, memoryBytes, 4, false, 3);
    }

    private static PlanAnswer plan(OpenedRun opened, PlanRequest request) {
        return new Planner(opened, request, SLOW_LINKS, StageTimes.ofOperations(FLOPS)).run();
    }

    /** A candidate with its bound, its step and the bytes of its fullest rank. */
    private record Priced(PlanChoice choice, long boundNanos, long stepNanos, long bytes) {
    }

    /** Every candidate that can be planned, priced by the same steps without any bound. */
    private static List<Priced> all(OpenedRun opened, PlanRequest request) {
        StepCosts costs = new StepCosts(StageTimes.ofOperations(FLOPS), SLOW_LINKS,
                opened.whole().choice().settings(), opened.whole().start().sequenceLength(), false);
        StepBound bound = new StepBound(costs, false);
        SearchSpace space = new SearchSpace(opened.model(), request, SLOW_LINKS.nodeRanks(), 1);
        List<Priced> priced = new ArrayList<>();
        Layouts layouts = new Layouts(opened.model(), OptimizerChoice.of(opened.spec(), opened.model()));
        for (PlanGrid grid : space.grids()) {
            for (PlanChoice choice : space.choices(grid,
                    stages -> layouts.of(stages, costs.layers(opened.model(), grid), SPEEDS.apply(stages)))) {
                try {
                    Cut cut = layouts.cut(choice.stageCount(), choice.layout()).orElseThrow();
                    PlannedRun planned = PlannedRun.of(opened.with(opened.spec().with(choice.settings())));
                    priced.add(new Priced(choice, bound.nanos(choice, cut), PricedPlan.stepNanos(planned.plan(),
                            costs.of(choice, cut, planned.plan())), bytes(planned)));
                } catch (RuntimeException refused) {
                    assertTrue(
                            UserErrors.sentenceOf(refused).isPresent() || refused instanceof IllegalArgumentException,
                            refused::toString);
                }
            }
        }
        return priced;
    }

    private static long bytes(PlannedRun planned) {
        return SizedRun.of(planned).memory().ranks().stream().mapToLong(RankMemory::total).max().orElseThrow();
    }

    @Dealt(2)
    @Test
    void shouldChooseTheBestOfAllAndNeverExceedTheBudget() {
        try (OpenedRun opened = open(small())) {
            List<Priced> all = all(opened, request(4, Long.MAX_VALUE));
            assertTrue(all.size() > 500, "" + all.size());
            all.forEach(each -> assertTrue(each.boundNanos() <= each.stepNanos(), each::toString));
            List<Long> needs = all.stream().map(Priced::bytes).sorted().distinct().toList();
            for (int tenth = 0; tenth <= 10; tenth++) {
                if (tenth < 10 && !Deal.has("PlannerTest, budget " + tenth, SHARES)) {
                    continue;
                }
                long budget = needs.get((needs.size() - 1) * tenth / 10);
                PricedPlan chosen = plan(opened, request(4, budget)).best().getFirst();
                Priced best = all.stream().filter(each -> each.bytes() <= budget)
                        .min(Comparator.comparingLong(Priced::stepNanos)).orElseThrow();
                assertEquals(best.stepNanos(), chosen.stepNanos(), () -> best + " but chose " + chosen.choice());
                assertTrue(chosen.fullest().total() <= budget, chosen.choice()::toString);
            }
            String refusal = assertThrows(UsageException.class, () -> plan(opened, request(4, needs.getFirst() - 1)))
                    .getMessage();
            assertTrue(refusal.startsWith("no plan of 4 ranks fits; the nearest: ") && refusal.contains("needs"),
                    refusal);
        }
    }

    @Test
    void shouldRefuseABudgetBelowOneLayer() {
        try (OpenedRun opened = open(small())) {
            assertEquals(
                    "--memory is 0.0 MiB, but the layer embedding alone takes 0.0 MiB on each of 2 ranks that share"
                            + " it: give more memory or more ranks, or take a smaller model",
                    assertThrows(UsageException.class, () -> plan(opened, request(2, 1000))).getMessage());
        }
    }

    @Test
    void shouldWriteARunWithTheAnnouncedMemoryAndLayers() throws IOException {
        try (OpenedRun opened = open(small())) {
            for (PricedPlan chosen : plan(opened, request(4, Long.MAX_VALUE)).best()) {
                Path file = Files.writeString(home.resolve("plan.conf"), chosen.spec().toHocon());
                try (OpenedRun again = open(RunSpecReader.read(Optional.of(file), List.of()))) {
                    PlannedRun planned = PlannedRun.of(again);
                    assertEquals(chosen.plan().partition(), planned.plan().partition());
                    assertEquals(chosen.plan().training().plan(), planned.plan().training().plan());
                    assertEquals(chosen.fullest().total(), bytes(planned));
                    String fullestAt = chosen.fullest().fullestAt().orElseThrow();
                    assertTrue(fullestAt.matches("\\d+[FBIW]\\d+( of validation)?"), fullestAt);
                }
            }
        }
    }

    /** A machine of a third of the speed gets about a third of the layers: (1 + 1/3) / 2 x 3 = 2 at most. */
    @Test
    void shouldGiveASlowMachineAShareByItsSpeed() {
        RunSpec deep = RunSpecReader.read(Optional.empty(), Stream.concat(SMALL.stream(), Stream.of("model.layers=12",
                "model.hidden=32")).toList());
        MachineFigures equal = new MachineFigures(FLOPS, 1, new Hop(0, 1e12), new Hop(0, 1e12), OptionalLong.empty());
        for (List<Double> speeds : List.of(List.of(3.0, 1.0), List.of(1.0, 3.0))) {
            MachineFigures unequal = equal.withSpeeds(speeds);
            try (OpenedRun opened = open(deep)) {
                PlanAnswer answer = new Planner(opened, new PlanRequest(2, Long.MAX_VALUE, 8, false, 400), unequal,
                        StageTimes.ofOperations(FLOPS)).run();
                PricedPlan best = answer.best().getFirst();
                long uniform = answer.best().stream()
                        .filter(plan -> plan.choice().layout().equals("uniform")
                                && plan.choice().grid().pipeline() == 2)
                        .mapToLong(PricedPlan::stepNanos).min().orElseThrow();
                assertTrue(uniform >= 1.4 * best.stepNanos(), () -> uniform + " uniform, best " + best.stepNanos()
                        + " " + best.choice());
                assertEquals(2, best.choice().grid().ranks());
            }
        }
    }

    /** A large table in common, and a slow link: one rank has both ends of it, whatever the bubble costs. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountTheTableOfTiedEmbeddingsOnItsLink(boolean isTied) {
        RunSpec wide = RunSpecReader.read(Optional.empty(), Stream.concat(SMALL.stream(), Stream.of("model.layers=4",
                "model.vocabulary-size=4096", "model.tie-embeddings=" + isTied)).toList());
        MachineFigures figures = new MachineFigures(FLOPS, 1, Hop.FREE, new Hop(1_000, 1e6), OptionalLong.empty());
        try (OpenedRun opened = open(wide)) {
            PricedPlan best = new Planner(opened, new PlanRequest(2, Long.MAX_VALUE, 8, false, 1), figures,
                    StageTimes.ofOperations(FLOPS)).run().best().getFirst();
            Plan plan = best.plan().training().plan();
            assertEquals(isTied, plan.rankOf(0, 0) == plan.rankOf(plan.stageCount() - 1, 0),
                    () -> best.choice() + " takes " + best.stepNanos());
        }
    }

    /** The slow link lies between the machines 0 and 1; the fourth machine is far from all. */
    @ParameterizedTest
    @ValueSource(ints = {3, 4})
    void shouldPutMachinesInTheOrderOfTheFasterLinks(int machines) {
        Hop fast = new Hop(1_000, 1e9);
        Hop slow = new Hop(1_000, 2e5);
        List<List<Hop>> ways = List.of(List.of(Hop.FREE, slow, fast, slow), List.of(slow, Hop.FREE, fast, slow),
                List.of(fast, fast, Hop.FREE, slow), List.of(slow, slow, slow, Hop.FREE));
        MachineFigures figures = new MachineFigures(1e8, 1, Hop.FREE, fast, OptionalLong.empty()).withMeasured(
                ways.subList(0, machines).stream().map(row -> row.subList(0, machines)).toList());
        try (OpenedRun opened = open(small())) {
            MeasuredPlacement search = new MeasuredPlacement(ordered -> new Planner(opened,
                    new PlanRequest(machines, Long.MAX_VALUE, 4, false, 1), ordered, StageTimes.ofOperations(1e8)),
                    figures,
                    machines);
            MeasuredPlacement.Placed placed = search.best();
            assertTrue(placed.stepNanos() < placed.ruleNanos(), placed.order()::toString);
            if (machines > 3) {
                return;
            }
            long least = search.orders().stream().mapToLong(order -> search.in(order).stepNanos()).min().orElseThrow();
            assertEquals(least, placed.stepNanos());
        }
    }

    @Test
    void shouldTakeNoPipelineIfThereIsOneRankAndCountTheSearch() {
        try (OpenedRun opened = open(small())) {
            PlanAnswer answer = plan(opened, request(1, Long.MAX_VALUE));
            assertEquals(1, answer.best().getFirst().choice().grid().ranks());
            assertEquals(answer.best().getFirst(), answer.withoutPipeline().orElseThrow());
            assertTrue(answer.cost().sized() <= answer.cost().simulated()
                    && answer.cost().simulated() <= answer.cost().certified() && answer.cost().sized() > 0);
        }
    }

    @Test
    void shouldConsiderOverlappingStepsOnlyIfAllowed() {
        try (OpenedRun opened = open(small())) {
            PlanRequest allowed = new PlanRequest(3, Long.MAX_VALUE, 4, true, 400);
            assertTrue(plan(opened, allowed).best().stream()
                    .anyMatch(plan -> plan.choice().schedule().equals("pipedream-2bw")));
            PlanRequest not = new PlanRequest(3, Long.MAX_VALUE, 4, false, 400);
            assertTrue(plan(opened, not).best().stream()
                    .noneMatch(plan -> plan.choice().schedule().equals("pipedream-2bw")));
        }
    }
}
