package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.lowering.AddSharedGradients;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole steps with a wrong end, and the sentence of their refusal. */
@Tag("plan")
class StepRefusalTest {
    private static final String FIRST = "0F0,0SEND_F0,0RECV_B0,0B0,";
    private static final String LAST = "1RECV_F0,1F0,1B0,1SEND_B0,";

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "0NORM,0UPDATE | 1NORM,1UPDATE,1SNAPSHOT |",
            "0NORM,0REDUCE_GRAD,0UPDATE | 1NORM,1UPDATE | 0REDUCE_GRAD comes after 0NORM",
            "0SNAPSHOT,0NORM,0UPDATE | 1NORM,1UPDATE | 0NORM comes after 0SNAPSHOT",
            "0NORM,0UPDATE | 1NORM | 1UPDATE is missing",
            "0UPDATE,0NORM | 1NORM,1UPDATE | 0NORM comes after 0UPDATE",
            "0RECV_SHARED,0SEND_SHARED,0NORM,0UPDATE | 1SEND_SHARED,1RECV_SHARED,1NORM,1UPDATE |"
                    + " 0SEND_SHARED comes after 0RECV_SHARED",
            "0SEND_SHARED,0RECV_SHARED,0NORM,0UPDATE | 1RECV_SHARED,1NORM,1UPDATE | 0RECV_SHARED is alone",
            "0SEND_SHARED,0RECV_SHARED,0NORM,0UPDATE | 1SEND_SHARED,1NORM,1RECV_SHARED,1UPDATE |"
                    + " 1RECV_SHARED comes after 1NORM",
            "0RESHARD,0NORM,0UPDATE | 1NORM,1UPDATE | 0F0 does not stand between 0UNSHARD and 0RESHARD",
            "0UNSHARD,0NORM,0UPDATE | 1NORM,1UPDATE | 0UNSHARD is followed by no 0RESHARD",
            "0NORM,0UPDATE,0SNAPSHOT,0UNSHARD | 1NORM,1UPDATE | 0SNAPSHOT comes before 0UNSHARD"})
    void shouldReportWhatIsOutOfOrder(String first, String last, String found) {
        Plan chain = Plan.fromCsv("hand", Laps.LOOP, FIRST + first.strip() + "\n" + LAST + last.strip() + "\n");
        Plan plan = chain.withGraph(chain.graph().with(AddSharedGradients.between(0, 1)));
        if (found == null) {
            PlanValidator.certify(plan, Purpose.TRAINING, 1);
            return;
        }
        String sentence = assertThrows(PlanException.class, () -> PlanValidator.certify(plan, Purpose.TRAINING, 1))
                .sentence();
        assertEquals(found.strip(),
                sentence.substring(sentence.indexOf(": ") + 2).substring(0, found.strip().length()));
    }

    @ParameterizedTest
    @CsvSource({"0NORM", "0SNAPSHOT"})
    void shouldTrainNothingIfThereAreForwardsOnly(String action) {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0," + action + "\n");
        assertEquals("Plan \"hand\", rank 0, position 1: " + action
                + " is of a training step, but the plan is for forwards only: take it out.",
                assertThrows(PlanException.class, () -> PlanValidator.certify(plan, Purpose.FORWARD_ONLY, 1))
                        .sentence());
    }

    /** Two stages of one rank: the norm of one comes after the update of the other, which waits for that norm. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = "0F0,1F0,1B0,0B0,0NORM,0UPDATE,1NORM,1UPDATE | rank 0 at 0UPDATE waits for 1NORM")
    void shouldSeeThatAnUpdateWaitsForAllNorms(String row, String found) {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, 2, 1, row + "\n");
        String sentence = assertThrows(PlanException.class, () -> PlanValidator.certify(plan, Purpose.TRAINING, 1))
                .sentence();
        assertEquals("Plan \"hand\" deadlocks: " + found,
                sentence.substring(0, "Plan \"hand\" deadlocks: ".length() + found.length()));
    }
}
