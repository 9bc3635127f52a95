package dev.troupe.protocol.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.ForwardOnly;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.WholeStep;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class RankMessagesTest {
    private static final WholeStep TIED = new WholeStep(false, true, false, false, false);

    private record Small(Certificate training, Certificate validation, int ranksPerPlace) implements RunPlan {
    }

    private static RunPlan plan(String schedule, int stagesPerRank) {
        Plan compute = Schedules.named(schedule).plan(2, stagesPerRank, 4);
        Plan forwards = new ForwardOnly(compute.placement()).plan(2, stagesPerRank, 3);
        return new Small(PlanValidator.certify(TIED.training(compute), Purpose.TRAINING, 2),
                PlanValidator.certify(TIED.forwards(forwards), Purpose.FORWARD_ONLY, 2), 2);
    }

    @ParameterizedTest
    @CsvSource({"1f1b, 1", "interleaved-1f1b, 2", "zbv, 2"})
    void shouldNameAMessageTheSameAtBothEnds(String schedule, int stagesPerRank) {
        RunPlan plan = plan(schedule, stagesPerRank);
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            RankMessages messages = plan.messages(rank);
            for (Pass.Kind kind : Pass.Kind.values()) {
                for (Action action : plan.row(kind, rank).actions()) {
                    if (action.kind().isMessage() && plan.needsMessage(action)) {
                        MessageKey key = messages.keyOf(action);
                        assertEquals(Optional.of(action), messages.actionOf(key));
                        assertEquals(plan.keyOf(rank, action), key);
                        assertEquals(plan.senderOf(key.edge()), messages.senderOf(key.edge()));
                        int other = action.kind().isSend() ? key.edge().toRank() : key.edge().fromRank();
                        assertEquals(key, plan.messages(other).keyOf(plan.peer(action)));
                    }
                }
            }
        }
    }

    @Test
    void shouldKnowNoMessageOfAnotherRankOrBeyondTheStep() {
        RunPlan plan = plan("1f1b", 1);
        MessageKey last = plan.messages(2).keyOf(Action.parse("1RECV_F3"));
        assertEquals(Optional.empty(), plan.messages(2).actionOf(new MessageKey(last.edge(), 4)));
        assertEquals(Optional.empty(), plan.messages(3).actionOf(last));
        String refusal = assertThrows(IllegalArgumentException.class,
                () -> plan.messages(0).keyOf(Action.parse("1RECV_F3"))).getMessage();
        assertEquals("1RECV_F3 is no message of rank 0", refusal);
    }

    @Test
    void shouldListTheKeysOfReceivesInTheirOrder() {
        RankMessages messages = plan("1f1b", 1).messages(2);
        List<Action> receives = List.of(Action.parse("1RECV_F2"), Action.parse("1RECV_F0"));
        assertEquals(List.of(2, 0), messages.keysOf(receives).stream().map(MessageKey::microbatch).toList());
    }
}
