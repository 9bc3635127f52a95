package dev.troupe.schedule.lowering;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.DualPipeV;
import dev.troupe.schedule.family.Schedules;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The passes that make a plan the whole step. */
@Tag("plan")
class WholeStepTest {
    private static final String CHAIN = """
            0F0,0B0
            1F0,1B0
            """;

    @Test
    void shouldEndARowWithNormUpdateAndSnapshot() {
        assertLowered("""
                0F0,0SEND_F0,0RECV_B0,0B0,0NORM,0UPDATE,0SNAPSHOT
                1RECV_F0,1F0,1B0,1SEND_B0,1NORM,1UPDATE,1SNAPSHOT
                """, List.of(new AddTransfers(), new AddNormAndUpdate(false), new AddSnapshot()));
    }

    @Test
    void shouldExchangeASharedGradientBeforeItIsSummed() {
        assertLowered("""
                0F0,0SEND_F0,0RECV_B0,0B0,0SEND_SHARED,0RECV_SHARED,0REDUCE_GRAD,0NORM,0UPDATE
                1RECV_F0,1F0,1B0,1SEND_B0,1SEND_SHARED,1RECV_SHARED,1REDUCE_GRAD,1NORM,1UPDATE
                """, List.of(new AddTransfers(), new AddSharedGradients(AddSharedGradients.between(0, 1)),
                new AddReduceGradients(), new AddNormAndUpdate(false)));
    }

    @Test
    void shouldExchangeBothEndsOfOneRankBeforeItAddsEither() {
        Plan plan = Plan.fromCsv("by hand", Laps.LOOP, "0F0,1F0,1B0,0B0\n");
        Plan lowered = LoweringPass.lower(plan,
                List.of(new AddTransfers(), new AddSharedGradients(AddSharedGradients.between(0, 1)),
                        new AddNormAndUpdate(false)));
        assertEquals(
                "0F0,1F0,1B0,0B0,0SEND_SHARED,1SEND_SHARED,0RECV_SHARED,1RECV_SHARED,0NORM,1NORM,0UPDATE,1UPDATE\n",
                lowered.toCsv());
        PlanValidator.certify(lowered, Purpose.TRAINING, 1);
    }

    @Test
    void shouldSendNothingIfOneStageUsesAParameterTwice() {
        Plan lowered = LoweringPass.lower(Plan.fromCsv("by hand", Laps.LOOP, "0F0,0B0\n"),
                List.of(new AddTransfers(), new AddSharedGradients(AddSharedGradients.between(0, 0)),
                        new AddNormAndUpdate(false)));
        assertEquals("0F0,0B0,0RECV_SHARED,0NORM,0UPDATE\n", lowered.toCsv());
        PlanValidator.certify(lowered, Purpose.TRAINING, 1);
    }

    @Test
    void shouldGatherWeightsFromTheFirstActionOfAStageToItsLast() {
        assertLowered("""
                0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0RESHARD,0NORM,0UPDATE
                1RECV_F0,1UNSHARD,1F0,1B0,1RESHARD,1SEND_B0,1NORM,1UPDATE
                """, List.of(new AddTransfers(), new AddUnshard(), new AddNormAndUpdate(false)));
    }

    @Test
    void shouldGatherTheUpdatesOfOthers() {
        assertLowered("""
                0F0,0SEND_F0,0RECV_B0,0B0,0NORM,0UPDATE,0UNSHARD,0SNAPSHOT
                1RECV_F0,1F0,1B0,1SEND_B0,1NORM,1UPDATE,1UNSHARD,1SNAPSHOT
                """, List.of(new AddTransfers(), new AddNormAndUpdate(true), new AddSnapshot()));
    }

    @Test
    void shouldKeepPairsTogether() {
        Plan plan = new DualPipeV().plan(2, 2, 4);
        Plan lowered = LoweringPass.lower(plan, List.of(new AddTransfers(), new AddUnshard()));
        assertEquals(plan.paired(), lowered.paired());
    }

    /** Every pass is applied to every schedule; the plan is certified, written as text and read again. */
    @Test
    void shouldCertifyTheWholeStepOfEverySchedule() {
        for (String name : Schedules.names()) {
            Plan plan = Schedules.named(name).plan(2, Schedules.named(name).usualVirtualStages(), 4);
            Plan lowered = LoweringPass.lower(plan,
                    List.of(new AddTransfers(), new AddUnshard(),
                            new AddSharedGradients(AddSharedGradients.between(0, plan.lastStage())),
                            new AddReduceGradients(), new AddNormAndUpdate(false), new AddSnapshot()));
            PlanValidator.certify(lowered, Purpose.TRAINING, 1);
            assertEquals(lowered.rows(), Plan.fromCsv(name, lowered.toCsv()).rows());
        }
    }

    private static void assertLowered(String expected, List<LoweringPass> passes) {
        Plan lowered = LoweringPass.lower(Plan.fromCsv("by hand", Laps.LOOP, CHAIN), passes);
        assertEquals(expected, lowered.toCsv());
        PlanValidator.certify(lowered, Purpose.TRAINING, 1);
    }
}
