package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.lowering.AddTransfers;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A plan that needs more than was declared for it, and a pair that waits for itself. */
@Tag("plan")
class PeakRefusalTest {
    @Test
    void shouldFindAPeakAboveTheDeclared() {
        Plan plan = new AddTransfers().apply(Plan.fromCsv("hand", Laps.LOOP, """
                0F0,0F1,0B0,0B1
                1F0,1F1,1B0,1B1
                """));
        PlanException refusal = assertThrows(PlanException.class,
                () -> PlanValidator.certify(plan, Purpose.TRAINING, 2, List.of(2, 1), List.of(0, 0)));
        assertEquals(
                """
                        Plan "hand", rank 1, position 3: 1F1 makes 2 live activations on rank 1, above the declared peak of 1: \
                        declare more, or put a backward before it.
                        hand: 2 ranks, 2 stages, 2 microbatches
                                0          1          2          3          4          5          6          7
                        rank 0  0F0        0SEND_F0   0F1        0SEND_F1   0RECV_B0   0B0        0RECV_B1   0B1
                        rank 1  1RECV_F0   1F0        1RECV_F1  [1F1]       1B0        1SEND_B0   1B1        1SEND_B1
                                                                 ^^^ 2 live, 1 declared""",
                refusal.getMessage());
        assertEquals("Plan \"hand\" has 2 ranks, but peaks are declared for 3.", assertThrows(PlanException.class,
                () -> PlanValidator.certify(plan, Purpose.TRAINING, 2, List.of(2, 2, 2), List.of(0, 0))).getMessage());
    }

    @Test
    void shouldAcceptAPlanWithinTheDeclaredPeaks() {
        Plan plan = new AddTransfers().apply(new OneForwardOneBackward().plan(4, 1, 8));
        assertEquals(List.of(4, 3, 2, 1),
                PlanValidator.certify(plan, Purpose.TRAINING, 1, List.of(4, 3, 2, 1), List.of(0, 0, 0, 0))
                        .peakActivations());
    }

    @Test
    void shouldFindAPairWithABackwardThatWaitsForItsForward() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, """
                0F0,(0F1;0B0)OVERLAP_F_B,0B1
                1F0,1F1,1B0,1B1
                """);
        String sentence = "Plan \"hand\" deadlocks: rank 0 at 0F1 waits for 1B0 of rank 1, position 2; rank 1 at 1F1 waits "
                + "for 0F1 of rank 0, position 1: change the order of the rows.";
        assertEquals(sentence, assertThrows(PlanException.class, () -> PlanValidator.check(plan, Purpose.TRAINING))
                .sentence());
        PlanValidator.check(plan.withRows(plan.rows()), Purpose.TRAINING);
        assertThrows(PlanException.class,
                () -> PlanValidator.certify(new AddTransfers().apply(plan), Purpose.TRAINING, 4));
    }
}
