package dev.troupe.schedule.family;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.lowering.WholeStep;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class PipeDreamTest {
    private static final PipeDream STASHING = new PipeDream(false);
    private static final PipeDream VERTICAL = new PipeDream(true);

    @Test
    void shouldUpdateAfterEachBackward() {
        assertEquals("""
                0F0@0 0F1@0 0F2@0 0B0@0 0UPDATE0 0F3@1 0B1@0 0UPDATE1 0F4@2 0B2@0 0UPDATE2 0B3@1 0UPDATE3 0B4@2 0UPDATE4
                1F0@0 1F1@0 1B0@0 1UPDATE0 1F2@1 1B1@0 1UPDATE1 1F3@2 1B2@1 1UPDATE2 1F4@3 1B3@2 1UPDATE3 1B4@3 1UPDATE4
                2F0@0 2B0@0 2UPDATE0 2F1@1 2B1@1 2UPDATE1 2F2@2 2B2@2 2UPDATE2 2F3@3 2B3@3 2UPDATE3 2F4@4 2B4@4 2UPDATE4
                """, text(STASHING.plan(3, 1, 5)));
        assertEquals("""
                0F0@0 0F1@0 0B0@0 0UPDATE0 0F2@1 0B1@0 0UPDATE1 0B2@1 0UPDATE2
                1F0@0 1B0@0 1UPDATE0 1F1@0 1B1@0 1UPDATE1 1F2@1 1B2@1 1UPDATE2
                """, text(VERTICAL.plan(2, 1, 3)));
    }

    private static String text(Plan plan) {
        return plan.rows().stream().map(row -> row.stream().map(Action::toString)
                .collect(Collectors.joining(" ", "", "\n"))).collect(Collectors.joining());
    }

    /** The golden rows of the paper's rule at P = 4: the version of each forward, by stage. */
    @Test
    void shouldReadThePublishedVersions() {
        assertEquals(List.of(List.of(0, 0, 0, 0, 1, 2), List.of(0, 0, 0, 1, 2, 3), List.of(0, 0, 1, 2, 3, 4),
                List.of(0, 1, 2, 3, 4, 5)), versions(STASHING.plan(4, 1, 6)));
        assertEquals(Collections.nCopies(4, List.of(0, 0, 0, 0, 1, 2)), versions(VERTICAL.plan(4, 1, 6)));
    }

    private static List<List<Integer>> versions(Plan plan) {
        return plan.rows().stream().map(row -> row.stream().filter(action -> action.kind() == Kind.FORWARD)
                .map(Action::version).toList()).toList();
    }

    /** Stashing holds P - s versions on stage s and is P - 1 - s updates late; vertical sync P and P - 1 everywhere. */
    @Test
    void shouldHoldThePublishedVersions() {
        for (int pipeline = 1; pipeline <= 8; pipeline++) {
            List<Integer> falling = IntStream.rangeClosed(1, pipeline).boxed().toList().reversed();
            for (boolean continues : new boolean[]{false, true}) {
                for (int steps : continues ? new int[]{1, 2, 3 * pipeline} : new int[]{3 * pipeline}) {
                    Certificate stashing = certify(plan(STASHING, pipeline, steps, continues));
                    assertEquals(falling, stashing.weights().liveVersions());
                    assertEquals(falling.stream().map(each -> each - 1).toList(), stashing.weights().staleness());
                    assertEquals(Collections.nCopies(pipeline, 1), stashing.weights().liveGradients());
                    Certificate vertical = certify(plan(VERTICAL, pipeline, steps, continues));
                    assertEquals(Collections.nCopies(pipeline, pipeline), vertical.weights().liveVersions());
                    assertEquals(Collections.nCopies(pipeline, pipeline - 1), vertical.weights().staleness());
                    if (steps >= pipeline) {
                        assertEquals(falling, stashing.peakActivations());
                        assertEquals(falling, vertical.peakActivations());
                    }
                }
            }
        }
    }

    private static Plan plan(PipeDream schedule, int pipeline, int steps, boolean continues) {
        return continues ? schedule.continuing(pipeline, 1, steps) : schedule.plan(pipeline, 1, steps);
    }

    private static Certificate certify(Plan compute) {
        PlanValidator.check(compute, Purpose.TRAINING);
        return PlanValidator.certify(new AddTransfers().apply(compute), Purpose.TRAINING, 1);
    }

    /** No rank waits for another one's update: a step takes a forward and a backward, F = 1 and B = 2. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void shouldHaveNoBubble(int pipeline) {
        for (PipeDream schedule : List.of(STASHING, VERTICAL)) {
            long few = units(schedule.plan(pipeline, 1, 20));
            assertEquals(3 * 20 + 3 * (pipeline - 1), few);
            assertEquals(3 * 30, units(schedule.plan(pipeline, 1, 50)) - few);
            Plan continued = schedule.continuing(pipeline, 1, 20);
            Plan whole = new WholeStep(false, false, false, false, false).training(continued);
            PlanValidator.certify(whole, Purpose.TRAINING, 1);
            assertEquals(few, units(continued));
            assertEquals(few, units(whole));
        }
    }

    private static long units(Plan plan) {
        return Simulator.run(plan, Costs.units(plan.stageCount())).makespanNanos();
    }

    @Test
    void shouldRepeatTheBlockOfAStep() {
        for (PipeDream schedule : List.of(STASHING, VERTICAL)) {
            for (int pipeline = 1; pipeline <= 5; pipeline++) {
                Certificate few = certify(schedule.plan(pipeline, 1, schedule.drawnSteps(pipeline)));
                Certificate many = certify(schedule.plan(pipeline, 1, 4 * pipeline + 5));
                assertTrue(few.steadyState().isPresent(), schedule + " on " + pipeline);
                assertEquals(few.steadyState(), many.steadyState());
                assertEquals(few.weights(), many.weights());
                assertEquals(few.mostUnreceived(), many.mostUnreceived());
            }
        }
        assertEquals(Optional.empty(), certify(STASHING.plan(4, 1, 4)).steadyState());
    }

    @Test
    void shouldContinueAfterOtherSteps() {
        assertEquals("""
                0F0@0 0F1@1 0F2@2 0B0@0 0UPDATE0 0F3@3 0B1@1 0UPDATE1 0B2@2 0UPDATE2 0B3@3 0UPDATE3
                1F0@1 1F1@2 1B0@1 1UPDATE0 1F2@3 1B1@2 1UPDATE1 1F3@4 1B2@3 1UPDATE2 1B3@4 1UPDATE3
                2F0@2 2B0@2 2UPDATE0 2F1@3 2B1@3 2UPDATE1 2F2@4 2B2@4 2UPDATE2 2F3@5 2B3@5 2UPDATE3
                """, text(STASHING.continuing(3, 1, 4)));
        assertEquals("0F0@1 0B0@1 0UPDATE0 0F1@2 0B1@2 0UPDATE1\n", text(STASHING.continuing(1, 1, 2)));
        assertTrue(STASHING.continuing(1, 1, 2).continues());
    }

    /** Its own gradients are enough, but for the last update of a pass, after which all ranks commit. */
    @Test
    void shouldWaitForNoOtherRankButBeforeACommit() {
        Plan plan = STASHING.plan(3, 1, 4);
        Plan continuing = STASHING.continuing(3, 1, 4);
        for (int step = 0; step < 4; step++) {
            assertEquals(false, plan.updateAwaitsAll(step));
            assertEquals(step == 3, continuing.updateAwaitsAll(step));
            assertEquals(true, new PipeDream2Bw(PipeDream2Bw.Updates.LAZY, 1).plan(3, 3, 4).updateAwaitsAll(step));
        }
    }

    /** An update moved to any other place is refused, but if it still is between its gradient and its first reader. */
    @Test
    void shouldRefuseEveryEditOfOneAction() {
        for (PipeDream schedule : List.of(STASHING, VERTICAL)) {
            Plan compute = schedule.plan(3, 1, 6);
            Plan sound = new AddTransfers().apply(compute);
            for (int rank = 0; rank < 3; rank++) {
                for (int position = 0; position < sound.rows().get(rank).size(); position++) {
                    List<Action> row = new ArrayList<>(sound.rows().get(rank));
                    Action action = row.remove(position);
                    refuse(with(sound, rank, row), "without " + action);
                    row.add(position, action);
                    for (int version = 0; action.namesVersion() && version <= 7; version++) {
                        if (version != action.version()) {
                            row.set(position, action.on(version));
                            refuse(with(sound, rank, row), action + " on version " + version);
                        }
                    }
                }
                moveUpdates(compute, rank);
            }
        }
    }

    private static void moveUpdates(Plan compute, int rank) {
        List<Action> row = compute.rows().get(rank);
        for (int step = 0; step < compute.stepCount(); step++) {
            Action update = new Action(rank, Kind.UPDATE, step);
            for (int to = 0; to < row.size(); to++) {
                List<Action> moved = new ArrayList<>(row);
                moved.remove(update);
                moved.add(to, update);
                Plan lowered = new AddTransfers().apply(with(compute, rank, moved));
                if (isSound(moved, to, step)) {
                    PlanValidator.certify(lowered, Purpose.TRAINING, 1);
                } else {
                    refuse(lowered, update + " at " + to);
                }
            }
        }
    }

    private static boolean isSound(List<Action> row, int at, int step) {
        List<Action> before = row.subList(0, at);
        List<Action> behind = row.subList(at + 1, row.size());
        return before.stream().noneMatch(action -> action.version() > step
                || action.kind() == Kind.UPDATE && action.microbatch() > step)
                && behind.stream().noneMatch(action -> action.kind() == Kind.FULL_BACKWARD
                        && action.microbatch() <= step || action.kind() == Kind.UPDATE && action.microbatch() < step);
    }

    private static Plan with(Plan plan, int rank, List<Action> row) {
        List<List<Action>> rows = new ArrayList<>(plan.rows());
        rows.set(rank, row);
        return plan.withRows(rows);
    }

    private static void refuse(Plan plan, String edit) {
        PlanException refusal = assertThrows(PlanException.class,
                () -> PlanValidator.certify(plan, Purpose.TRAINING, 2), edit);
        assertTrue(refusal.getMessage().contains("\nrank 0 "), refusal.getMessage()); // the grid
    }

    /** The ends of a tied table would wait for each other's gradient, and be older than the weights around them. */
    @Test
    void shouldRefuseAParameterOfTwoStages() {
        Plan tied = new WholeStep(false, true, false, false, false).training(STASHING.continuing(2, 1, 3));
        assertEquals(
                "Plan \"pipedream\", rank 0, position 6: 0SEND_SHARED0 is between two stages, but each stage of this plan"
                        + " updates its weights alone: a parameter of two stages would wait for both, and be older than the others.",
                assertThrows(PlanException.class, () -> PlanValidator.certify(tied, Purpose.TRAINING, 1)).sentence());
        PlanValidator.certify(new WholeStep(false, true, false, false, false).training(STASHING.continuing(1, 1, 3)),
                Purpose.TRAINING, 1);
    }

    @Test
    void shouldRefuseOtherSizes() {
        assertEquals(
                "pipedream updates the weights after each microbatch, so that a step has 1, but was asked for 4 in a"
                        + " step: ask for 1 (in a run, training.microbatch-size = training.global-batch-size), or take pipedream-2bw.",
                assertThrows(PlanException.class, () -> STASHING.plan(2, 4, 3)).getMessage());
        assertThrows(PlanException.class, () -> VERTICAL.plan(2, 1, 0));
        assertThrows(PlanException.class, () -> VERTICAL.plan(0, 1, 1));
        assertTrue(assertThrows(PlanException.class, () -> Schedules.named("pipedream-vertical-sync")).getMessage()
                .startsWith("pipedream-vertical-sync overlaps the steps of a run, so that it has no plan of one step"));
    }
}
