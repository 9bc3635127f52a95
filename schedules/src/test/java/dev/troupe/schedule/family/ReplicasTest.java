package dev.troupe.schedule.family;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.certificate.StageEdge;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.lowering.WholeStep;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("plan")
class ReplicasTest {
    static final WholeStep WHOLE = new WholeStep(false, false, false, false, false);

    private static PipeDream of(Integer... replicas) {
        return new PipeDream(false, List.of(replicas));
    }

    /** Every shape of up to three stages, with up to three ranks each, and some longer ones. */
    static Stream<List<Integer>> shapes() {
        return Stream.concat(Stream.of(List.of(2, 1, 1, 1), List.of(1, 2, 2, 1), List.of(3, 1, 2, 1)),
                IntStream.rangeClosed(1, 3).boxed()
                        .flatMap(stages -> IntStream.range(0, (int) Math.pow(3, stages)).mapToObj(number -> IntStream
                                .range(0, stages).mapToObj(stage -> 1 + number / (int) Math.pow(3, stage) % 3)
                                .toList())));
    }

    @Test
    void shouldTakeMicrobatchesAlternately() {
        assertEquals(
                """
                        0F0@0 0F2@0 0B0@0 0UPDATE1 0F4@1 0B2@0 0UPDATE3 0B4@1 0UPDATE5
                        0F1@0 0F3@0 0B1@0 0UPDATE1 0F5@1 0B3@0 0UPDATE3 0B5@1 0UPDATE5
                        1F0@0 1B0@0 1UPDATE0 1F1@1 1B1@1 1UPDATE1 1F2@2 1B2@2 1UPDATE2 1F3@3 1B3@3 1UPDATE3 1F4@4 1B4@4 1UPDATE4 1F5@5 1B5@5 1UPDATE5
                        """,
                text(of(2, 1).plan(2, 1, 6)));
        assertEquals(
                """
                        0F0@0 0F1@0 0F2@0 0B0@0 0UPDATE0 0F3@1 0B1@0 0UPDATE1 0F4@2 0B2@0 0UPDATE2 0F5@3 0B3@1 0UPDATE3 0B4@2 0UPDATE4 0B5@3 0UPDATE5
                        1F0@0 1B0@0 1UPDATE1 1F2@1 1B2@1 1UPDATE3 1F4@2 1B4@2 1UPDATE5
                        1F1@0 1B1@0 1UPDATE1 1F3@1 1B3@1 1UPDATE3 1F5@2 1B5@2 1UPDATE5
                        """,
                text(of(1, 2).plan(2, 1, 6)));
        assertEquals("""
                0F0@0 0F2@0 0B0@0 0UPDATE1 0B2@0 0UPDATE3
                0F1@0 0F3@0 0B1@0 0UPDATE1 0B3@0 0UPDATE3
                1F0@0 1F1@0 1B0@0 1UPDATE0 1F2@1 1B1@0 1UPDATE1 1F3@2 1B2@1 1UPDATE2 1B3@2 1UPDATE3
                2F0@0 2B0@0 2UPDATE0 2F1@1 2B1@1 2UPDATE1 2F2@2 2B2@2 2UPDATE2 2F3@3 2B3@3 2UPDATE3
                """, text(of(2, 1, 1).plan(3, 1, 4)));
    }

    /** A pass of a run begins with older versions, and its whole rows add the gradients of a round up. */
    @Test
    void shouldAddUpTheGradientsOfARound() {
        assertEquals(
                """
                        0F0@0 0SEND_F0 0F2@1 0SEND_F2 0RECV_B0 0B0@0 0REDUCE_GRAD1 0NORM1 0UPDATE1 0RECV_B2 0B2@1 0REDUCE_GRAD3 0NORM3 0UPDATE3 0SNAPSHOT3
                        0F1@0 0SEND_F1 0F3@1 0SEND_F3 0RECV_B1 0B1@0 0REDUCE_GRAD1 0NORM1 0UPDATE1 0RECV_B3 0B3@1 0REDUCE_GRAD3 0NORM3 0UPDATE3 0SNAPSHOT3
                        1RECV_F0 1F0@1 1B0@1 1SEND_B0 1NORM0 1UPDATE0 1RECV_F1 1F1@2 1B1@2 1SEND_B1 1NORM1 1UPDATE1 1RECV_F2 1F2@3 1B2@3 1SEND_B2 1NORM2 1UPDATE2 1RECV_F3 1F3@4 1B3@4 1SEND_B3 1NORM3 1UPDATE3 1SNAPSHOT3
                        """,
                text(WHOLE.training(of(2, 1).continuing(2, 1, 4))));
    }

    private static String text(Plan plan) {
        return plan.rows().stream().map(row -> row.stream().map(Action::toString)
                .collect(Collectors.joining(" ", "", "\n"))).collect(Collectors.joining());
    }

    @Test
    void shouldBePipeDreamWithOneRankAStage() {
        for (int pipeline = 1; pipeline <= 4; pipeline++) {
            PipeDream replicated = new PipeDream(false, Collections.nCopies(pipeline, 1));
            assertEquals(new PipeDream(false).plan(pipeline, 1, 9).rows(), replicated.plan(pipeline, 1, 9).rows());
            assertEquals(new PipeDream(false).continuing(pipeline, 1, 9).rows(),
                    replicated.continuing(pipeline, 1, 9).rows());
        }
    }

    /** The warm-up of PipeDream's runtime: the ranks after a stage's first one, over its ranks, rounded down. */
    private static int warmUp(List<Integer> shape, int stage) {
        int behind = shape.stream().skip(stage).mapToInt(Integer::intValue).sum() - 1;
        return behind / shape.get(stage);
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void shouldHoldTheMicrobatchesThatPipeDreamAdmits(List<Integer> shape) {
        PipeDream rule = new PipeDream(false, shape);
        int steps = rule.drawnSteps(shape.size());
        int ranks = shape.stream().mapToInt(Integer::intValue).sum();
        for (boolean continues : new boolean[]{false, true}) {
            Plan compute = continues
                    ? rule.continuing(shape.size(), 1, steps)
                    : rule.plan(shape.size(), 1, steps);
            PlanValidator.check(compute, Purpose.TRAINING);
            Certificate proven = certify(new AddTransfers().apply(compute));
            Certificate whole = certify(WHOLE.training(compute));
            List<Integer> warmUps = IntStream.range(0, shape.size()).mapToObj(stage -> warmUp(shape, stage)).toList();
            assertEquals(warmUps, proven.weights().staleness());
            assertEquals(warmUps.stream().map(each -> each + 1).toList(), proven.weights().liveVersions());
            assertEquals(Collections.nCopies(shape.size(), 1), proven.weights().liveGradients());
            assertEquals(proven.weights(), whole.weights());
            for (int stage = 0; stage < shape.size(); stage++) {
                for (int rank : compute.ranksOf(stage)) {
                    assertEquals(warmUps.get(stage) + 1, proven.peakActivations().get(rank));
                }
            }
            // NOAM: for each replica of the input stage, the ranks over them, rounded up.
            assertEquals(Math.ceilDiv(ranks, shape.getFirst()), proven.peakActivations().getFirst());
        }
    }

    private static Certificate certify(Plan lowered) {
        return PlanValidator.certify(lowered, Purpose.TRAINING, 1);
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void shouldRepeatTheBlockOfARound(List<Integer> shape) {
        PipeDream rule = new PipeDream(false, shape);
        int steps = rule.drawnSteps(shape.size());
        Certificate few = certify(new AddTransfers().apply(rule.plan(shape.size(), 1, steps)));
        Certificate many = certify(new AddTransfers().apply(rule.plan(shape.size(), 1, 2 * steps)));
        assertTrue(few.steadyState().isPresent());
        assertEquals(few.steadyState(), many.steadyState());
        assertEquals(few.weights(), many.weights());
        assertEquals(few.mostUnreceived(), many.mostUnreceived());
    }

    /** Replica i sends to replica j if a microbatch has both residues: lcm(2, 3) = 6 edges each way. */
    @Test
    void shouldHaveTheEdgesOfTheResidues() {
        Certificate two = certify(new AddTransfers().apply(of(2, 3).plan(2, 1, 12)));
        assertEquals(12, two.messagesPerEdge().size());
        two.messagesPerEdge().forEach((edge, count) -> assertEquals(2, count, edge.toString()));
        assertEquals(
                List.of(new StageEdge(0, 0, 1, 1), new StageEdge(1, 1, 0, 0), new StageEdge(0, 0, 2, 1),
                        new StageEdge(2, 1, 0, 0)),
                certify(new AddTransfers().apply(of(1, 2).plan(2, 1, 12))).messagesPerEdge().keySet().stream()
                        .sorted((left, right) -> Integer.compare(left.fromRank() + left.toRank(),
                                right.fromRank() + right.toRank()))
                        .toList());
    }

    /**
     * A stage that takes twice as long as the other, in front, on two ranks: no rank is idle any more, and a step takes
     * half. At the end, the 3 microbatches that PipeDream admits are too few for replicas that wait for each other.
     */
    @Test
    void shouldBalanceStages() {
        StageCost slow = new StageCost(2, 2, 2, 0);
        StageCost fast = new StageCost(1, 1, 1, 0);
        assertEquals(6 * 20, more(new PipeDream(false), List.of(slow, fast), 20));
        assertEquals(3 * 20, more(of(2, 1), List.of(slow, fast), 20));
        assertEquals(6 * 20, more(new PipeDream(false), List.of(fast, slow), 20));
        assertEquals(75, more(of(1, 2), List.of(fast, slow), 20));
    }

    private static long more(PipeDream rule, List<StageCost> stages, int steps) {
        return nanos(rule, stages, 2 * steps + 60) - nanos(rule, stages, steps + 60);
    }

    private static long nanos(PipeDream rule, List<StageCost> stages, int steps) {
        Plan compute = rule.plan(stages.size(), 1, steps);
        Costs costs = new Costs(stages, (from, to) -> Hop.FREE);
        long nanos = Simulator.run(compute, costs).makespanNanos();
        assertEquals(nanos, Simulator.run(new AddTransfers().apply(compute), costs, 2).makespanNanos());
        assertEquals(nanos, Simulator.run(WHOLE.training(compute), costs, 2).makespanNanos());
        return nanos;
    }

    /** An update of a replica waits for the gradient of the other: microbatch 1 is on its way for 50 units more. */
    @Test
    void shouldWaitForTheOtherReplica() {
        Plan plan = of(2, 1).plan(2, 1, 4);
        Costs.Hops late = (from, to) -> from == 2 && to == 1
                ? new Hop(50, Double.POSITIVE_INFINITY)
                : Hop.FREE;
        var simulation = Simulator.run(plan,
                new Costs(Collections.nCopies(2, new StageCost(1, 1, 1, 0)), late));
        int first = plan.rows().get(0).indexOf(new Action(0, Kind.UPDATE, 1));
        int second = plan.rows().get(1).indexOf(new Action(0, Kind.UPDATE, 1));
        assertEquals(simulation.startNanos(1, second), simulation.startNanos(0, first));
        assertTrue(simulation.startNanos(0, first) > 50);
        assertTrue(simulation.criticalPath().stream().anyMatch(place -> place.rank() == 1));
    }

    static Plan with(Plan plan, int rank, List<Action> row) {
        List<List<Action>> rows = new ArrayList<>(plan.rows());
        rows.set(rank, row);
        return plan.withRows(rows);
    }

    private static String refusal(Plan plan) {
        return assertThrows(PlanException.class, () -> PlanValidator.certify(plan, Purpose.TRAINING, 2)).sentence();
    }

    @Test
    void shouldReportWhatIsWrong() {
        Plan sound = WHOLE.training(of(2, 1).plan(2, 1, 4));
        List<Action> row = new ArrayList<>(sound.rows().get(1));
        row.remove(new Action(0, Kind.REDUCE_GRAD, 1));
        assertEquals(
                "Plan \"pipedream\", rank 1, position 14: 0REDUCE_GRAD1 is missing: the 2 replicas of stage 0 add up"
                        + " their gradients in front of each update, or their weights would part.",
                refusal(with(sound, 1, row)));
        List<Action> other = new ArrayList<>(sound.rows().get(0));
        other.set(0, new Action(0, Kind.FORWARD, 1, 0));
        assertEquals(
                "Plan \"pipedream\", rank 0, position 0: 0F1@0 is on the wrong rank: the placement 2-1 puts microbatch 1 of"
                        + " stage 0 on rank 1.",
                refusal(with(sound, 0, other)));
        List<Action> early = new ArrayList<>(sound.rows().get(0));
        early.replaceAll(action -> action.equals(new Action(0, Kind.UPDATE, 1))
                ? new Action(0, Kind.UPDATE, 0)
                : action);
        assertEquals(
                "Plan \"pipedream\", rank 0, position 15: 0UPDATE1 is missing: other stages end the step, so stage 0"
                        + " does, too.",
                refusal(with(sound, 0, early)));
    }

    /** Rank 1 waits for the gradient of microbatch 5 before its sum, but rank 0 sends 4 after the sum. */
    @Test
    void shouldRefuseReplicasThatNeverMeet() {
        Plan sound = WHOLE.training(of(2, 1).plan(2, 1, 6));
        List<List<Action>> rows = new ArrayList<>(sound.rows());
        for (int replica = 0; replica < 2; replica++) {
            int third = 4 + replica;
            rows.set(replica, new ArrayList<>(rows.get(replica).stream()
                    .map(action -> action.namesVersion() && action.microbatch() == third ? action.on(0) : action)
                    .toList()));
        }
        PlanValidator.certify(sound.withRows(rows), Purpose.TRAINING, 2);
        List<Action> ends = List.of(new Action(0, Kind.RECV_B, 5), new Action(0, Kind.REDUCE_GRAD, 1),
                new Action(0, Kind.NORM, 1), new Action(0, Kind.UPDATE, 1));
        rows.get(1).removeAll(ends);
        rows.get(1).addAll(rows.get(1).indexOf(new Action(0, Kind.FULL_BACKWARD, 3, 0)), ends);
        assertEquals(
                "Plan \"pipedream\" deadlocks: rank 0 at 0REDUCE_GRAD1 waits for 0REDUCE_GRAD1 of rank 1, position 10; rank 1"
                        + " at 0RECV_B5 waits for 1SEND_B5 of rank 2, position 33; rank 2 at 1RECV_F4 waits for 0SEND_F4 of rank 0,"
                        + " position 10: change the order of the rows.",
                refusal(sound.withRows(rows)));
    }

    /** If updates wait for all stages no stage has rounds of its own. */
    @Test
    void shouldRefuseReplicasOfOtherSchedules() {
        Plan forwards = new ForwardOnly(new Replicas(List.of(2, 1))).plan(2, 1, 4);
        PlanValidator.certify(new AddTransfers().apply(forwards), Purpose.FORWARD_ONLY, 1);
        Plan synchronous = forwards
                .withRows(forwards.rows().stream().map(row -> Stream.concat(row.stream(), row.stream()
                        .map(action -> action.as(Kind.FULL_BACKWARD))).toList()).toList());
        assertEquals(
                "Plan \"forward-only\", rank 0, position 4: stage 0 has 2 replicas, which update their weights together in"
                        + " rounds of 2 microbatches: so its plan has steps of one microbatch, a multiple of 2 of them, and stages"
                        + " that update alone, but it has 1 of 4, and updates that wait for all stages.",
                assertThrows(PlanException.class, () -> PlanValidator.check(synchronous, Purpose.TRAINING)).sentence());
    }

    @Test
    void shouldRefusePlansWithoutRounds() {
        assertEquals(
                "pipedream with replicas 2-3 has rounds of 6 microbatches, after which each stage has updated its weights,"
                        + " but was asked for 4 steps: ask for a multiple of 6.",
                assertThrows(PlanException.class, () -> of(2, 3).plan(2, 1, 4)).getMessage());
        assertEquals(
                "pipedream needs a number of replicas for each of its stages, 3 in number, but was asked for [2, 1]: give"
                        + " 3.",
                assertThrows(PlanException.class, () -> of(2, 1).plan(3, 1, 4)).getMessage());
        assertEquals("Each stage has 1 replica or more, but found [2, 0].",
                assertThrows(PlanException.class, () -> of(2, 0).plan(2, 1, 4)).getMessage());
        assertTrue(assertThrows(PlanException.class, () -> new PipeDream(true, List.of(2, 1))).getMessage()
                .startsWith("pipedream-vertical-sync gives every stage the version of the weights that stage 0 had"));
        assertTrue(assertThrows(PlanException.class,
                () -> OverlappingRule.named("pipedream-2bw", PipeDream2Bw.Updates.LAZY, 1, List.of(2, 1))).getMessage()
                .startsWith("pipedream-2bw has one rank for each stage"));
        assertThrows(PlanException.class, () -> new Plan("hand", 2, 2, 1, new Replicas(List.of(2, 1)),
                List.of(List.of(), List.of())));
        assertEquals(List.of(List.of(0, 1), List.of(2)),
                IntStream.range(0, 2).mapToObj(stage -> new Replicas(List.of(2, 1)).ranksOf(stage, 3)).toList());
    }
}
