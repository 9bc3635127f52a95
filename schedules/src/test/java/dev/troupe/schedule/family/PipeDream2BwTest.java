package dev.troupe.schedule.family;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.PipeDream2Bw.Updates;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.lowering.WholeStep;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class PipeDream2BwTest {
    private static final PipeDream2Bw LAZY = new PipeDream2Bw(Updates.LAZY, 1);
    private static final PipeDream2Bw EAGER = new PipeDream2Bw(Updates.EAGER, 1);

    /** F2.0@1 is batch 2, microbatch 0, weights of version 1. */
    @Test
    void shouldPutOffTheUpdateToTheFirstForwardThatReadsIt() {
        assertEquals("""
                F0.0@0 F0.1@0 B0.0@0 F1.0@0 B0.1@0 F1.1@0 B1.0@0 U0 F2.0@1 B1.1@0 F2.1@1 B2.0@1 B2.1@1 U1 U2
                F0.0@0 B0.0@0 F0.1@0 B0.1@0 F1.0@0 B1.0@0 F1.1@0 B1.1@0 U0 F2.0@1 B2.0@1 F2.1@1 B2.1@1 U1 U2
                """, byBatch(LAZY.plan(2, 2, 3)));
        String row = byBatch(LAZY.plan(3, 2, 5)).lines().findFirst().orElseThrow();
        assertTrue(row.startsWith("F0.0@0 F0.1@0 F1.0@0 B0.0@0 F1.1@0 B0.1@0 U0 F2.0@1 B1.0@0 F2.1@1 B1.1@0 U1 F3.0@2 "
                + "B2.0@1 F3.1@2 B2.1@1 "), row);
    }

    @Test
    void shouldUpdateAfterTheLastBackwardIfItIsEager() {
        assertEquals("""
                F0.0@0 F0.1@0 B0.0@0 F1.0@0 B0.1@0 U0 F1.1@0 B1.0@0 F2.0@1 B1.1@0 U1 F2.1@1 B2.0@1 B2.1@1 U2
                F0.0@0 B0.0@0 F0.1@0 B0.1@0 U0 F1.0@0 B1.0@0 F1.1@0 B1.1@0 U1 F2.0@1 B2.0@1 F2.1@1 B2.1@1 U2
                """, byBatch(EAGER.plan(2, 2, 3)));
    }

    private static String byBatch(Plan plan) {
        return plan.rows().stream().map(row -> row.stream().map(action -> {
            Matcher text = Pattern.compile("\\d+([FB])\\d+(@\\d+)|\\d+(UPDATE)(\\d+)").matcher(action.toString());
            assertTrue(text.matches(), action.toString());
            return text.group(1) == null
                    ? "U" + text.group(4)
                    : text.group(1) + plan.stepOf(action) + "." + action.microbatch() % plan.microbatchesPerStep()
                            + text.group(2);
        }).collect(Collectors.joining(" ", "", "\n"))).collect(Collectors.joining());
    }

    @Test
    void shouldReadThePlanThatItWrote() {
        for (PipeDream2Bw schedule : List.of(LAZY, EAGER)) {
            Plan plan = schedule.plan(3, 4, 5);
            assertEquals(plan, Plan.fromCsv(plan.name(), plan.toCsv()));
        }
        assertTrue(LAZY.plan(2, 2, 3).toString()
                .startsWith("pipedream-2bw: 2 ranks, 2 stages, 6 microbatches, 3 steps\n"));
    }

    /** Units of a step once the pipeline is full: lazy, eager, and 1F1B, which drains after each step. */
    @ParameterizedTest
    @CsvSource({"2, 2, 6, 8, 9", "4, 4, 12, 18, 21", "8, 8, 24, 38, 45", "4, 3, 9, 15, 18", "4, 9, 27, 33, 36",
            "1, 3, 9, 9, 9"})
    void shouldHaveNoBubbleIfUpdatesAreLazy(int pipeline, int microbatches, long lazy, long eager, long flushed) {
        Costs units = Costs.units(pipeline);
        assertEquals(lazy, stepNanos(LAZY, pipeline, microbatches, units));
        assertEquals(3L * microbatches, lazy);
        assertEquals(eager, stepNanos(EAGER, pipeline, microbatches, units));
        assertEquals(3L * microbatches + 2 * (pipeline - 1), eager);
        assertEquals(flushed, Simulator.run(new OneForwardOneBackward().plan(pipeline, 1, microbatches), units)
                .makespanNanos());
    }

    /** A forward of 4 units, hops of 1, a round of the norm of 4. */
    @ParameterizedTest
    @CsvSource({"4, 8, 1, 27", "4, 8, 2, 24", "8, 32, 1, 110", "8, 32, 2, 96"})
    void shouldHideMessagesAndTheNormWithADoubledWarmUp(int pipeline, int microbatches, int warmUp, long forwards) {
        Costs costs = new Costs(Costs.uniform(pipeline, new StageCost(4, 4, 4, 0), Hop.FREE).stages(),
                (from, to) -> new Hop(1, Double.POSITIVE_INFINITY), 4);
        double perStep = stepNanos(new PipeDream2Bw(Updates.LAZY, warmUp), pipeline, microbatches, costs) / 4;
        assertEquals(forwards, perStep, 0.5);
    }

    private static double stepNanos(PipeDream2Bw schedule, int pipeline, int microbatches, Costs costs) {
        int few = 12;
        int many = 36;
        return (double) (Simulator.run(schedule.plan(pipeline, microbatches, many), costs).makespanNanos()
                - Simulator.run(schedule.plan(pipeline, microbatches, few), costs).makespanNanos()) / (many - few);
    }

    @Test
    void shouldKeepTwoVersionsAndTheActivationsOf1F1B() {
        for (int pipeline = 1; pipeline <= 8; pipeline++) {
            int ranks = pipeline;
            for (int microbatches = Math.max(1, pipeline - 1); microbatches <= pipeline + 3; microbatches++) {
                Certificate lazy = certify(LAZY.plan(pipeline, microbatches, 5));
                assertEquals(all(pipeline, 2), lazy.weights().liveVersions());
                assertEquals(all(pipeline, 2), lazy.weights().liveGradients());
                assertEquals(all(pipeline, 1), lazy.weights().staleness());
                assertEquals(IntStream.range(0, ranks).mapToObj(rank -> ranks - rank).toList(), lazy.peakActivations());
                Certificate eager = certify(EAGER.plan(pipeline, microbatches, 5));
                assertEquals(all(pipeline, 2), eager.weights().liveVersions());
                assertEquals(all(pipeline, 1), eager.weights().liveGradients());
            }
        }
        Certificate doubled = certify(new PipeDream2Bw(Updates.LAZY, 2).plan(4, 6, 5));
        assertEquals(List.of(7, 5, 3, 1), doubled.peakActivations());
        assertEquals(all(4, 2), doubled.weights().liveVersions());
    }

    private static List<Integer> all(int stages, int each) {
        return IntStream.range(0, stages).mapToObj(stage -> each).toList();
    }

    private static Certificate certify(Plan plan) {
        PlanValidator.check(plan, Purpose.TRAINING);
        return PlanValidator.certify(new AddTransfers().apply(plan), Purpose.TRAINING, 1);
    }

    @Test
    void shouldRefuseFewerMicrobatchesThanTheWarmUpHas() {
        assertEquals(
                "pipedream-2bw on 4 ranks needs 3 microbatches or more in a step, but was asked for 2: rank 0 would begin"
                        + " step 2 before the gradients of step 0 are back, and the weights of step 2 are those that they update; take 3"
                        + " microbatches or more, or fewer ranks.",
                assertThrows(PlanException.class, () -> LAZY.plan(4, 2, 3)).getMessage());
        assertTrue(assertThrows(PlanException.class, () -> new PipeDream2Bw(Updates.LAZY, 2).plan(4, 5, 3)).getMessage()
                .startsWith("pipedream-2bw on 4 ranks needs 6 microbatches or more"));
        LAZY.plan(4, 3, 3);
    }

    /** Without the refusal of the schedule the certificate refuses the plan. */
    @ParameterizedTest
    @CsvSource({"4, 2, 1", "8, 6, 1", "4, 5, 2", "3, 1, 1"})
    void shouldNotBeCertifiedWithFewer(int pipeline, int microbatches, int warmUp) {
        for (Updates updates : Updates.values()) {
            Plan plan = new AddTransfers()
                    .apply(new PipeDream2Bw(updates, warmUp).planOf(pipeline, microbatches, 4, 0));
            assertThrows(PlanException.class, () -> PlanValidator.certify(plan, Purpose.TRAINING, 8));
        }
    }

    @Test
    void shouldExplainWhyFewerAreRefused() {
        Plan plan = new AddTransfers().apply(LAZY.planOf(4, 2, 4, 0));
        String sentence = assertThrows(PlanException.class, () -> PlanValidator.certify(plan, Purpose.TRAINING, 8))
                .sentence();
        assertEquals("Plan \"pipedream-2bw\", rank 0, position 14: 0B1@0 comes after 0UPDATE0: gradients are complete,"
                + " exchanged, summed, measured and used in this order, so move 0UPDATE0 after 0B1@0.", sentence);
    }

    /** Version 1 is the newest at the beginning, and version 0 its predecessor. */
    @Test
    void shouldContinueAfterOtherSteps() {
        assertEquals("""
                F0.0@0 F0.1@0 B0.0@0 F1.0@1 B0.1@0 F1.1@1 B1.0@1 U0 F2.0@2 B1.1@1 F2.1@2 B2.0@2 B2.1@2 U1 U2
                F0.0@0 B0.0@0 F0.1@0 B0.1@0 F1.0@1 B1.0@1 F1.1@1 B1.1@1 U0 F2.0@2 B2.0@2 F2.1@2 B2.1@2 U1 U2
                """, byBatch(LAZY.continuing(2, 2, 3)));
        for (int steps = 1; steps <= 4; steps++) {
            Certificate certificate = certify(LAZY.continuing(3, 2, steps));
            assertEquals(all(3, 2), certificate.weights().liveVersions());
            assertEquals(all(3, 1), certificate.weights().staleness());
        }
    }

    @Test
    void shouldRefuseAVersionThatAContinuedPlanDoesNotHave() {
        Plan plan = LAZY.continuing(1, 1, 3);
        Plan moved = plan.withRows(List.of(Stream.of("0F0@0", "0B0@0", "0F1@1", "0B1@1", "0F2@2", "0B2@2", "0UPDATE0",
                "0UPDATE1", "0UPDATE2").map(Action::parse).toList()));
        assertEquals(
                "Plan \"pipedream-2bw\", rank 0, position 4: 0F2@2 reads version 2 of the weights of stage 0, but the"
                        + " newest one in its row is then version 1: move 0UPDATE0 in front of it.",
                assertThrows(PlanException.class, () -> PlanValidator.check(moved, Purpose.TRAINING)).sentence());
    }

    /** The last stage ends a step first: it measures, continues, and adds the other end's gradient later. */
    @Test
    void shouldMeasureAfterTheGradientsOfAStep() {
        Plan plan = new WholeStep(false, true, false, false, false).training(LAZY.continuing(2, 2, 3));
        assertEquals("1RECV_F0,1F0@0,1B0@0,1SEND_B0,1RECV_F1,1F1@0,1B1@0,1SEND_B1,1SEND_SHARED0,1NORM0,1RECV_F2,1F2@1,"
                + "1B2@1,1SEND_B2,1RECV_F3,1F3@1,1B3@1,1SEND_B3,1SEND_SHARED1,1NORM1,1RECV_SHARED0,1UPDATE0,1RECV_F4,1F4@2,"
                + "1B4@2,1SEND_B4,1RECV_F5,1F5@2,1B5@2,1SEND_B5,1SEND_SHARED2,1NORM2,1RECV_SHARED1,1UPDATE1,1RECV_SHARED2,"
                + "1UPDATE2,1SNAPSHOT2", plan.toCsv().lines().toList().get(1));
        assertTrue(plan.toCsv().startsWith("0F0@0,0SEND_F0,0F1@0,0SEND_F1,0RECV_B0,0B0@0,0F2@1,0SEND_F2,0RECV_B1,0B1@0,"
                + "0SEND_SHARED0,0RECV_SHARED0,0NORM0,0F3@1,"), plan.toCsv());
    }

    /** Of two data-parallel ranks that each update a share of the weights. */
    @Test
    void shouldSumBothEndsOfASharedParameterBeforeTheyAreExchanged() {
        Plan plan = new WholeStep(false, true, false, true, true).training(LAZY.continuing(2, 1, 3));
        assertEquals("1RECV_F0,1F0@0,1B0@0,1SEND_B0,1REDUCE_GRAD0,1SEND_SHARED0,1NORM0,1RECV_F1,1F1@1,1B1@1,1SEND_B1,"
                + "1REDUCE_GRAD1,1SEND_SHARED1,1NORM1,1RECV_SHARED0,1UPDATE0,1UNSHARD0,1RECV_F2,1F2@2,1B2@2,1SEND_B2,"
                + "1REDUCE_GRAD2,1SEND_SHARED2,1NORM2,1RECV_SHARED1,1UPDATE1,1UNSHARD1,1RECV_SHARED2,1UPDATE2,1UNSHARD2,"
                + "1SNAPSHOT2", plan.toCsv().lines().toList().get(1));
        PlanValidator.certify(plan, Purpose.TRAINING, 1);
        Plan alone = new WholeStep(false, true, false, true, false).training(LAZY.continuing(1, 1, 2));
        assertTrue(alone.toCsv().startsWith("0F0@0,0B0@0,0RECV_SHARED0,0REDUCE_GRAD0,0NORM0,"), alone.toCsv());
        PlanValidator.certify(alone, Purpose.TRAINING, 1);
    }

    /** Lowered to the whole step a plan is certified for every size, and takes no longer. */
    @Test
    void shouldTakeNoLongerWithTheWholeStep() {
        for (int pipeline = 1; pipeline <= 5; pipeline++) {
            for (PipeDream2Bw schedule : List.of(LAZY, EAGER, new PipeDream2Bw(Updates.LAZY, 2))) {
                int microbatches = Math.max(1, 2 * (pipeline - 1));
                Plan compute = schedule.continuing(pipeline, microbatches, 4);
                for (boolean isTied : new boolean[]{false, true}) {
                    Plan whole = new WholeStep(false, isTied, false, isTied, isTied).training(compute);
                    PlanValidator.certify(whole, Purpose.TRAINING, 1);
                    assertEquals(Simulator.run(compute, Costs.units(pipeline)).makespanNanos(),
                            Simulator.run(whole, Costs.units(pipeline)).makespanNanos(), whole.toString());
                }
            }
        }
    }

    @Test
    void shouldHaveNoPlanOfOneStep() {
        assertEquals(
                "pipedream-2bw overlaps the steps of a run, so that it has no plan of one step: ./troupe schedule draws it"
                        + " and ./troupe train runs it; here, take one of " + String.join(", ", Schedules.names())
                        + ".",
                assertThrows(PlanException.class, () -> Schedules.named("pipedream-2bw")).getMessage());
    }

    @Test
    void shouldRefuseOtherWarmUps() {
        for (int warmUp : new int[]{0, 3}) {
            assertThrows(PlanException.class, () -> new PipeDream2Bw(Updates.LAZY, warmUp));
        }
        assertThrows(PlanException.class, () -> LAZY.plan(2, 2, 0));
    }
}
