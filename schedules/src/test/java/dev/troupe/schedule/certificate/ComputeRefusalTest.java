package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every class of mistake in the computing of a plan, each drawn as the user sees it. */
@Tag("plan")
class ComputeRefusalTest {
    @Test
    void shouldMissAForward() {
        assertRefused("""
                Plan "hand", rank 1, position 2: 1F1 is missing: 1B1 has nothing to go back over.
                hand: 2 ranks, 2 stages, 2 microbatches
                        0     1     2     3
                rank 0  0F0   0F1   0B0   0B1
                rank 1  1F0   1B0  [1B1]
                                    ^^^ 1F1 is missing""", """
                0F0,0F1,0B0,0B1
                1F0,1B0,1B1
                """);
    }

    @Test
    void shouldMissAForwardAndItsBackward() {
        assertRefused("""
                Plan "hand", rank 1, position 2: 1F1 is missing: stage 1 never sees microbatch 1.
                hand: 2 ranks, 2 stages, 2 microbatches
                        0     1     2     3
                rank 0  0F0   0F1   0B0   0B1
                rank 1  1F0   1B0  [?]
                                    ^ 1F1 is missing""", """
                0F0,0F1,0B0,0B1
                1F0,1B0
                """);
    }

    @Test
    void shouldMissABackward() {
        assertRefused("""
                Plan "hand", rank 0, position 1: 0B1 is missing: 0F1 has no backward.
                hand: 2 ranks, 2 stages, 2 microbatches
                        0     1     2     3
                rank 0  0F0  [0F1]  0B0
                              ^^^ 0B1 is missing
                rank 1  1F0   1B0   1F1   1B1""", """
                0F0,0F1,0B0
                1F0,1B0,1F1,1B1
                """);
    }

    @Test
    void shouldMissEitherHalfOfABackward() {
        assertRefused("""
                Plan "hand", rank 0, position 1: 0W0 is missing: 0I0 has no other half.
                hand: 1 rank, 1 stage, 1 microbatch
                        0     1
                rank 0  0F0  [0I0]
                              ^^^ 0W0 is missing""", """
                0F0,0I0
                """);
        assertRefused("""
                Plan "hand", rank 0, position 1: 0I0 is missing: 0W0 has no other half.
                hand: 1 rank, 1 stage, 1 microbatch
                        0     1
                rank 0  0F0  [0W0]
                              ^^^ 0I0 is missing""", """
                0F0,0W0
                """);
    }

    @Test
    void shouldFindADoubledAction() {
        assertRefused("""
                Plan "hand", rank 0, position 3: 0F0 occurs twice, first at position 0 already: take one of them out.
                hand: 2 ranks, 2 stages, 2 microbatches
                        0     1     2     3     4
                rank 0  0F0   0F1   0B0  [0F0]  0B1
                                          ^^^ again
                rank 1  1F0   1B0   1F1   1B1""", """
                0F0,0F1,0B0,0F0,0B1
                1F0,1B0,1F1,1B1
                """);
    }

    @Test
    void shouldFindABackwardBeforeItsForward() {
        assertRefused(
                """
                        Plan "hand", rank 1, position 2: 1B1 comes before 1F1: a backward needs its forward, so move 1F1 in front of 1B1.
                        hand: 2 ranks, 2 stages, 2 microbatches
                                0     1     2     3
                        rank 0  0F0   0F1   0B0   0B1
                        rank 1  1F0   1B0  [1B1]  1F1
                                            ^^^ before 1F1""",
                """
                        0F0,0F1,0B0,0B1
                        1F0,1B0,1B1,1F1
                        """);
        assertRefused(
                """
                        Plan "hand", rank 0, position 0: 0I0 comes before 0F0: a backward needs its forward, so move 0F0 in front of 0I0.
                        hand: 1 rank, 1 stage, 1 microbatch
                                0     1     2
                        rank 0 [0I0]  0F0   0W0
                                ^^^ before 0F0""",
                """
                        0I0,0F0,0W0
                        """);
    }

    @Test
    void shouldFindTheWeightsBeforeTheInput() {
        assertRefused(
                """
                        Plan "hand", rank 0, position 1: 0W0 comes before 0I0: the backward for the weights follows the one for the \
                        input, so move 0I0 in front of 0W0.
                        hand: 1 rank, 1 stage, 1 microbatch
                                0     1     2
                        rank 0  0F0  [0W0]  0I0
                                      ^^^ before 0I0""",
                """
                        0F0,0W0,0I0
                        """);
    }

    @Test
    void shouldFindAWholeBackwardNextToAHalf() {
        assertRefused(
                """
                        Plan "hand", rank 0, position 2: 0W0 and 0B0 are both there, but B is I and W together: keep 0B0, or 0I0 and 0W0.
                        hand: 1 rank, 1 stage, 1 microbatch
                                0     1     2
                        rank 0  0F0   0B0  [0W0]
                                            ^^^ twice the backward""",
                """
                        0F0,0B0,0W0
                        """);
    }

    @Test
    void shouldFindAnActionOnTheWrongRank() {
        assertRefused("""
                Plan "hand", rank 0, position 1: 1F0 is on the wrong rank: the placement LOOP puts stage 1 on rank 1.
                hand: 2 ranks, 2 stages, 1 microbatch
                        0     1     2
                rank 0  0F0  [1F0]  0B0
                              ^^^ belongs to rank 1
                rank 1  1B0""", """
                0F0,1F0,0B0
                1B0
                """);
    }

    @Test
    void shouldFindStagesAndMicrobatchesThatDoNotExist() {
        String csv = """
                0F0,0F1,0B0,0B1
                1F0,1B0,1F1,1B1
                """;
        assertEquals("""
                Plan "hand", rank 0, position 1: 0F1 names microbatch 1, but the last microbatch of the plan is 0.
                hand: 2 ranks, 2 stages, 1 microbatch
                        0     1     2     3
                rank 0  0F0  [0F1]  0B0   0B1
                              ^^^ no such microbatch
                rank 1  1F0   1B0   1F1   1B1""",
                refusal(Plan.fromCsv("hand", Laps.LOOP, 2, 1, csv)).getMessage());
        assertEquals("""
                Plan "hand", rank 1, position 1: 3B0 names stage 3, but the last stage of the plan is 1.
                hand: 2 ranks, 2 stages, 2 microbatches
                        0     1     2     3
                rank 0  0F0   0F1   0B0   0B1
                rank 1  1F0  [3B0]  1F1   1B1
                              ^^^ no such stage""",
                refusal(Plan.fromCsv("hand", Laps.LOOP, 2, 2, csv.replace("1B0", "3B0"))).getMessage());
    }

    @Test
    void shouldFindABackwardInAForwardOnlyPlan() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0,0B0\n");
        assertEquals("""
                Plan "hand", rank 0, position 1: 0B0 is for a backward, but the plan is for forwards only: take it out.
                hand: 1 rank, 1 stage, 1 microbatch
                        0     1
                rank 0  0F0  [0B0]
                              ^^^ nothing is trained""",
                assertThrows(PlanException.class, () -> PlanValidator.check(plan, Purpose.FORWARD_ONLY)).getMessage());
    }

    @Test
    void shouldShowWhoWaitsForWhomInADeadlock() {
        assertRefused(
                """
                        Plan "hand" deadlocks: rank 0 at 0B0 waits for 1B0 of rank 1, position 2; rank 1 at 1F1 waits for 0F1 of \
                        rank 0, position 2: change the order of the rows.
                        hand: 2 ranks, 2 stages, 2 microbatches
                                0     1     2     3
                        rank 0  0F0  [0B0]  0F1   0B1
                                      ^^^ waits for 1B0 of rank 1, position 2
                        rank 1  1F0  [1F1]  1B0   1B1
                                      ^^^ waits for 0F1 of rank 0, position 2""",
                """
                        0F0,0B0,0F1,0B1
                        1F0,1F1,1B0,1B1
                        """);
    }

    @Test
    void shouldShowTheCircleAndNotThoseWhoWaitOutsideIt() {
        PlanException refusal = refusal(Plan.fromCsv("hand", Laps.LOOP, """
                0F0,0B0,0F1,0B1
                1F0,1F1,1B0,1B1
                2F0,2F1,2B0,2B1
                """));
        // Rank 0 waits for rank 1 and rank 2 for rank 1, but only rank 1 holds up rank 0.
        assertEquals("Plan \"hand\" deadlocks: rank 0 at 0B0 waits for 1B0 of rank 1, position 2; rank 1 at 1F1 waits "
                + "for 0F1 of rank 0, position 2: change the order of the rows.", refusal.sentence());
    }

    @Test
    void shouldShowARankThatWaitsForItself() {
        assertRefused("""
                Plan "hand" deadlocks: rank 0 at 1F0 waits for 0F0 of rank 0, position 1: change the order of the rows.
                hand: 1 rank, 2 stages, 1 microbatch
                        0     1     2     3
                rank 0 [1F0]  0F0   1B0   0B0
                        ^^^ waits for 0F0 of rank 0, position 1""", """
                1F0,0F0,1B0,0B0
                """);
    }

    private static void assertRefused(String expected, String csv) {
        assertEquals(expected, refusal(Plan.fromCsv("hand", Laps.LOOP, csv)).getMessage());
    }

    private static PlanException refusal(Plan plan) {
        return assertThrows(PlanException.class, () -> PlanValidator.check(plan, Purpose.TRAINING));
    }
}
