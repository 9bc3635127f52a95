package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.OneForwardOneBackward;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.PipeDream2Bw.Updates;
import dev.troupe.schedule.lowering.AddTransfers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class SteadyStateTest {
    /** Each step has one microbatch, and every other update waits for another forward. */
    private static final String CHANGING = """
            0F0@0,0B0@0,0UPDATE0,0F1@1,0B1@1,0F2@1,0UPDATE1,0B2@1,0UPDATE2,0F3@3,0B3@3,0F4@3,0UPDATE3,0B4@3,0UPDATE4
            """;

    @Test
    void shouldRepeatTheBlockFromOneUpdateToTheNext() {
        assertEquals(List.of(
                "[0UPDATE0, 0F4@1, 0SEND_F4, 0RECV_B3, 0B3@0, 0F5@1, 0SEND_F5, 0RECV_B4, 0B4@1]",
                "[1UPDATE0, 1RECV_F4, 1F4@1, 1B4@1, 1SEND_B4, 1RECV_F5, 1F5@1, 1B5@1, 1SEND_B5]"),
                certify(new PipeDream2Bw(Updates.LAZY, 1).plan(2, 2, 4), 1).steadyState().orElseThrow().block().stream()
                        .map(List::toString).toList());
    }

    /** The induction, tested on plans of more steps. */
    @Test
    void shouldHaveTheFiguresOfEveryLongerPlan() {
        for (Updates updates : Updates.values()) {
            for (int warmUp = 1; warmUp <= 2; warmUp++) {
                PipeDream2Bw schedule = new PipeDream2Bw(updates, warmUp);
                for (int pipeline = 1; pipeline <= 5; pipeline++) {
                    for (int more = 0; more < 3; more++) {
                        int microbatches = Math.max(1, warmUp * (pipeline - 1)) + more;
                        Certificate few = certify(schedule.plan(pipeline, microbatches, 4), 1);
                        Certificate many = certify(schedule.plan(pipeline, microbatches, 9), 1);
                        SteadyState steady = few.steadyState().orElseThrow();
                        assertEquals(Optional.of(steady), many.steadyState());
                        assertEquals(few.peakActivations(), many.peakActivations());
                        assertEquals(few.weights(), many.weights());
                        assertEquals(few.mostUnreceived(), many.mostUnreceived());
                        assertEquals(longer(few.plan(), steady), many.plan().rows());
                    }
                }
            }
        }
    }

    /** Returns the rows with five more blocks after their own. */
    private static List<List<Action>> longer(Plan plan, SteadyState steady) {
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<Action> row = plan.rows().get(rank);
            List<Action> block = steady.block().get(rank);
            int end = Collections.indexOfSubList(row, block) + block.size();
            List<Action> longer = new ArrayList<>(row.subList(0, end));
            for (int step = 1; step <= 5; step++) {
                longer.addAll(later(plan, block, step));
            }
            longer.addAll(later(plan, row.subList(end, row.size()), 5));
            rows.add(longer);
        }
        return rows;
    }

    private static List<Action> later(Plan plan, List<Action> actions, int steps) {
        return actions.stream().map(action -> new Action(action.stage(), action.kind(),
                action.microbatch() + steps * (action.kind().isPerMicrobatch() ? plan.microbatchesPerStep() : 1),
                action.namesVersion() ? action.version() + steps : Action.ONLY_VERSION)).toList();
    }

    @Test
    void shouldFindNoBlockInAPlanThatDoesNotRepeat() {
        // Steps 0 and 1 read the same weights, so the updates of so short a plan are at its end.
        assertEquals(Optional.empty(), certify(new PipeDream2Bw(Updates.LAZY, 1).plan(2, 2, 2), 1).steadyState());
        assertEquals(Optional.empty(), certify(new OneForwardOneBackward().plan(2, 1, 4), 1).steadyState());
        assertEquals(Optional.empty(), certify(Plan.fromCsv("hand", CHANGING), 1).steadyState());
    }

    private static Certificate certify(Plan plan, int credits) {
        return PlanValidator.certify(new AddTransfers().apply(plan), Purpose.TRAINING, credits);
    }
}
