package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.lowering.AddTransfers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every class of mistake in the messages of a plan, each drawn as the user sees it. */
@Tag("plan")
class MessageRefusalTest {
    @Test
    void shouldAskForTheMessagesOfAPlanThatIsToRun() {
        assertNotCertified(
                """
                        Plan "hand", rank 0, position 2: 0B0 has no 0RECV_B0, but its input is made on rank 1: put the receive \
                        before it, or lower the plan.
                        hand: 2 ranks, 2 stages, 1 microbatch
                                0          1          2
                        rank 0  0F0        0SEND_F0  [0B0]
                                                      ^^^ needs 0RECV_B0
                        rank 1  1RECV_F0   1F0        1B0""",
                """
                        0F0,0SEND_F0,0B0
                        1RECV_F0,1F0,1B0
                        """);
    }

    @Test
    void shouldFindASendWithoutAReceive() {
        assertNotCertified("""
                Plan "hand", rank 1, position 3: 1SEND_B0 is a send without a receive: rank 0 has no 0RECV_B0.
                hand: 2 ranks, 2 stages, 1 microbatch
                        0          1          2          3
                rank 0  0F0        0SEND_F0   0I0        0W0
                rank 1  1RECV_F0   1F0        1B0       [1SEND_B0]
                                                         ^^^^^^^^ nobody receives it""", """
                0F0,0SEND_F0,0I0,0W0
                1RECV_F0,1F0,1B0,1SEND_B0
                """);
    }

    @Test
    void shouldFindAReceiveWithoutASend() {
        assertNotCertified("""
                Plan "hand", rank 0, position 2: 0RECV_B0 is a receive without a send: rank 1 has no 1SEND_B0.
                hand: 2 ranks, 2 stages, 1 microbatch
                        0          1          2          3
                rank 0  0F0        0SEND_F0  [0RECV_B0]  0B0
                                              ^^^^^^^^ nobody sends it
                rank 1  1RECV_F0   1F0        1B0""", """
                0F0,0SEND_F0,0RECV_B0,0B0
                1RECV_F0,1F0,1B0
                """);
    }

    @Test
    void shouldFindASendBeforeItsTensorIsMade() {
        assertNotCertified(
                """
                        Plan "hand", rank 0, position 0: 0SEND_F0 comes before 0F0: a send follows the action that makes its tensor.
                        hand: 2 ranks, 2 stages, 1 microbatch
                                0          1          2          3
                        rank 0 [0SEND_F0]  0F0        0RECV_B0   0B0
                                ^^^^^^^^ before 0F0
                        rank 1  1RECV_F0   1F0        1B0        1SEND_B0""",
                """
                        0SEND_F0,0F0,0RECV_B0,0B0
                        1RECV_F0,1F0,1B0,1SEND_B0
                        """);
    }

    @Test
    void shouldFindAReceiveAfterItsTensorIsNeeded() {
        assertNotCertified(
                """
                        Plan "hand", rank 1, position 1: 1RECV_F0 comes after 1F0: a receive precedes the action that needs its tensor.
                        hand: 2 ranks, 2 stages, 1 microbatch
                                0          1          2          3
                        rank 0  0F0        0SEND_F0   0RECV_B0   0B0
                        rank 1  1F0       [1RECV_F0]  1B0        1SEND_B0
                                           ^^^^^^^^ after 1F0""",
                """
                        0F0,0SEND_F0,0RECV_B0,0B0
                        1F0,1RECV_F0,1B0,1SEND_B0
                        """);
    }

    @Test
    void shouldFindMessagesThatHaveNoOtherEnd() {
        assertNotCertified(
                """
                        Plan "hand", rank 0, position 1: 0SEND_F0 has no other rank to go between: there is no stage beyond stage 0, so \
                        take the message out.
                        hand: 1 rank, 1 stage, 1 microbatch
                                0          1          2
                        rank 0  0F0       [0SEND_F0]  0B0
                                           ^^^^^^^^ no other end""",
                """
                        0F0,0SEND_F0,0B0
                        """);
        assertNotCertified(
                """
                        Plan "hand", rank 0, position 1: 1RECV_F0 has no other rank to go between: stage 0 is on the same rank, so take \
                        the message out.
                        hand: 1 rank, 2 stages, 1 microbatch
                                0          1          2          3          4
                        rank 0  0F0       [1RECV_F0]  1F0        1B0        0B0
                                           ^^^^^^^^ no other end""",
                """
                        0F0,1RECV_F0,1F0,1B0,0B0
                        """);
    }

    @Test
    void shouldFindGradientMessagesInAForwardOnlyPlan() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, """
                0F0,0SEND_F0,0RECV_B0
                1RECV_F0,1F0,1SEND_B0
                """);
        PlanException refusal = assertThrows(PlanException.class,
                () -> PlanValidator.certify(plan, Purpose.FORWARD_ONLY, 1));
        assertEquals("Plan \"hand\", rank 0, position 2: 0RECV_B0 carries a gradient, but the plan has no backward of "
                + "stage 0 for microbatch 0: take the message out.", refusal.sentence());
        assertEquals(List.of(new Place(0, 2)), refusal.places());
    }

    @Test
    void shouldAllowReceivesOutOfOrderWithinTheCredits() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, """
                0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B1,0B1,0RECV_B0,0B0
                1RECV_F1,1F1,1RECV_F0,1F0,1B1,1SEND_B1,1B0,1SEND_B0
                """);
        assertEquals(2, PlanValidator.certify(plan, Purpose.TRAINING, 2).creditsPerEdge());
        assertNotCertified(
                """
                        Plan "hand" deadlocks: rank 1 at 1RECV_F1 waits for 0SEND_F1, which gets no credit: the credits of the edge \
                        from stage 0 (rank 0) to stage 1 (rank 1), 1 in number, are held until 1RECV_F0; receive in the order of \
                        sending, or give more credits.
                        hand: 2 ranks, 2 stages, 2 microbatches
                                0          1          2          3          4          5          6          7
                        rank 0  0F0        0SEND_F0   0F1        0SEND_F1   0RECV_B1   0B1        0RECV_B0   0B0
                        rank 1 [1RECV_F1]  1F1        1RECV_F0   1F0        1B1        1SEND_B1   1B0        1SEND_B0
                                ^^^^^^^^ waits for 0SEND_F1, which gets no credit""",
                plan.toCsv());
    }

    @Test
    void shouldFindADeadlockThatOnlyTheOrderOfMessagesMakes() {
        // The computing is 1F1B and sound; rank 0 asks for the gradient of 0 before it sends the input of that gradient.
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, """
                0F0,0RECV_B0,0SEND_F0,0B0
                1RECV_F0,1F0,1B0,1SEND_B0
                """);
        PlanValidator.check(plan, Purpose.TRAINING);
        PlanException refusal = assertThrows(PlanException.class,
                () -> PlanValidator.certify(plan, Purpose.TRAINING, 8));
        assertEquals("Plan \"hand\" deadlocks: rank 0 at 0RECV_B0 waits for 1SEND_B0 of rank 1, position 3; rank 1 at "
                + "1RECV_F0 waits for 0SEND_F0 of rank 0, position 2: change the order of the rows.",
                refusal.sentence());
        assertEquals(List.of(new Place(0, 1), new Place(1, 0)), refusal.places());
    }

    @Test
    void shouldRefuseEverySmallPlanThatLacksOneAction() {
        Plan sound = new AddTransfers().apply(new OneForwardOneBackward().plan(3, 1, 4));
        for (int rank = 0; rank < sound.rankCount(); rank++) {
            for (int position = 0; position < sound.rows().get(rank).size(); position++) {
                List<List<Action>> rows = new ArrayList<>(sound.rows());
                List<Action> row = new ArrayList<>(rows.get(rank));
                Action lost = row.remove(position);
                rows.set(rank, row);
                Plan broken = sound.withRows(rows);
                PlanException refusal = assertThrows(PlanException.class,
                        () -> PlanValidator.certify(broken, Purpose.TRAINING, 4), () -> "without " + lost);
                assertTrue(refusal.sentence().contains(lost.toString()), refusal::getMessage);
            }
        }
    }

    private static void assertNotCertified(String expected, String csv) {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, csv);
        assertEquals(expected, assertThrows(PlanException.class,
                () -> PlanValidator.certify(plan, Purpose.TRAINING, 1)).getMessage());
    }
}
