package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddRecompute;
import dev.troupe.schedule.lowering.AddTransfers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Plans with replays ahead of their backwards, with one edit too many. */
@Tag("plan")
class ReplayRefusalTest {
    @Test
    void shouldMissAReplay() {
        assertRefused(
                """
                        Plan "hand", rank 0, position 4: 0RECOMPUTE1 is missing: stage 0 replays other microbatches ahead of their \
                        gradients, and 0B1 finds nothing replayed: a stage does so with all of its microbatches or with none.
                        hand: 2 ranks, 2 stages, 2 microbatches
                                0             1             2             3             4
                        rank 0  0F0           0F1           0RECOMPUTE0   0B0          [0B1]
                                                                                        ^^^ 0RECOMPUTE1 is missing
                        rank 1  1F0           1B0           1F1           1B1""",
                """
                        0F0,0F1,0RECOMPUTE0,0B0,0B1
                        1F0,1B0,1F1,1B1
                        """);
    }

    @Test
    void shouldFindAReplayBeforeItsForward() {
        assertRefused(
                """
                        Plan "hand", rank 0, position 0: 0RECOMPUTE0 comes before 0F0: a replay starts from the tensors that its forward has \
                        kept, so move 0F0 in front of 0RECOMPUTE0.
                        hand: 1 rank, 1 stage, 1 microbatch
                                0             1             2
                        rank 0 [0RECOMPUTE0]  0F0           0B0
                                ^^^^^^^^^^^ before 0F0""",
                """
                        0RECOMPUTE0,0F0,0B0
                        """);
    }

    @Test
    void shouldFindAReplayAfterItsBackward() {
        assertEquals(
                "Plan \"hand\", rank 0, position 1: 0B0 comes before 0RECOMPUTE0: a replay ends before its backward"
                        + " begins, so move 0RECOMPUTE0 in front of 0B0.",
                refusal(Plan.fromCsv("hand", Laps.LOOP, "0F0,0B0,0RECOMPUTE0\n")).sentence());
        assertEquals(
                "Plan \"hand\", rank 0, position 1: 0I0 comes before 0RECOMPUTE0: a replay ends before its backward"
                        + " begins, so move 0RECOMPUTE0 in front of 0I0.",
                refusal(Plan.fromCsv("hand", Laps.LOOP, "0F0,0I0,0RECOMPUTE0,0W0\n")).sentence());
    }

    @Test
    void shouldFindAReplayIfNothingIsTrained() {
        Plan plan = Plan.fromCsv("hand", Laps.LOOP, "0F0,0RECOMPUTE0\n");
        assertEquals(
                "Plan \"hand\", rank 0, position 1: 0RECOMPUTE0 is for a backward, but the plan is for forwards only:"
                        + " take it out.",
                assertThrows(PlanException.class,
                        () -> PlanValidator.check(plan, Purpose.FORWARD_ONLY)).sentence());
    }

    @Test
    void shouldFindMoreReplaysThanDeclared() {
        Plan plan = new AddTransfers().apply(Plan.fromCsv("hand", Laps.LOOP, """
                0F0,0F1,0RECOMPUTE0,0RECOMPUTE1,0B0,0B1
                1F0,1B0,1F1,1B1
                """));
        assertEquals(List.of(2, 0), PlanValidator.certify(plan, Purpose.TRAINING, 1).peakReplays());
        assertEquals(
                "Plan \"hand\", rank 0, position 5: 0RECOMPUTE1 makes 2 live replays on rank 0, above the declared peak"
                        + " of 1: declare more, or put a backward before it.",
                assertThrows(PlanException.class,
                        () -> PlanValidator.certify(plan, Purpose.TRAINING, 1, List.of(2, 1), List.of(1, 0)))
                        .sentence());
    }

    private static List<Plan> plans() {
        return List.of(Schedules.named("1f1b").plan(3, 1, 3), Schedules.named("gpipe").plan(3, 1, 3),
                Schedules.named("zb-h1").plan(3, 1, 4), Schedules.named("interleaved-1f1b").plan(2, 2, 4),
                new PipeDream2Bw(PipeDream2Bw.Updates.LAZY, 1).plan(3, 3, 3));
    }

    /** Every replay to every other place of its row, dropped, doubled, of another stage, on another version. */
    @ParameterizedTest
    @MethodSource("plans")
    void shouldRefuseEveryUnsoundEdit(Plan computing) {
        Plan sound = new AddTransfers().apply(new AddRecompute().apply(computing));
        Certificate certificate = PlanValidator.certify(sound, Purpose.TRAINING, 1);
        int refused = 0;
        int moved = 0;
        for (int rank = 0; rank < sound.rankCount(); rank++) {
            List<Action> row = sound.rows().get(rank);
            for (int from = 0; from < row.size(); from++) {
                Action replay = row.get(from);
                if (replay.kind() != Kind.RECOMPUTE) {
                    continue;
                }
                List<Action> rest = new ArrayList<>(row);
                rest.remove(from);
                refusal(sound, rank, rest, certificate);
                refusal(sound, rank, with(row, from, replay), certificate);
                refusal(sound, (rank + 1) % sound.rankCount(),
                        with(sound.rows().get((rank + 1) % sound.rankCount()), 1, replay), certificate);
                if (replay.namesVersion()) {
                    refusal(sound, rank, with(rest, from, replay.on(replay.version() + 1)), certificate);
                    refusal(sound, rank, with(rest, from, replay.work()), certificate);
                }
                for (int to = 0; to <= rest.size(); to++) {
                    List<Action> edited = with(rest, to, replay);
                    if (isSound(edited)) {
                        PlanValidator.certify(replaced(sound, rank, edited), Purpose.TRAINING, 1,
                                certificate.peakActivations(), certificate.peakReplays());
                        moved++;
                    } else {
                        refusal(sound, rank, edited, certificate);
                        refused++;
                    }
                }
            }
        }
        assertTrue(refused > 20 && moved > 10, refused + " and " + moved);
    }

    /** Each replay between its forward and its backward, and one at a time. */
    private static boolean isSound(List<Action> row) {
        List<Action> live = new ArrayList<>();
        List<Action> done = new ArrayList<>();
        for (Action action : row) {
            if (action.kind() == Kind.RECOMPUTE) {
                live.add(action);
                if (live.size() > 1 || !done.contains(action.as(Kind.FORWARD))) {
                    return false;
                }
            } else if (action.kind().makesInputGradient() && row.contains(action.as(Kind.RECOMPUTE))
                    && !live.remove(action.as(Kind.RECOMPUTE))) {
                return false;
            }
            done.add(action);
        }
        return true;
    }

    private static List<Action> with(List<Action> row, int position, Action action) {
        List<Action> edited = new ArrayList<>(row);
        edited.add(position, action);
        return edited;
    }

    private static Plan replaced(Plan plan, int rank, List<Action> row) {
        List<List<Action>> rows = new ArrayList<>(plan.rows());
        rows.set(rank, row);
        return plan.withRows(rows);
    }

    private static void refusal(Plan sound, int rank, List<Action> row, Certificate declared) {
        Plan plan = replaced(sound, rank, row);
        PlanException refusal = assertThrows(PlanException.class, () -> PlanValidator.certify(plan, Purpose.TRAINING, 1,
                declared.peakActivations(), declared.peakReplays()), plan::toCsv);
        assertTrue(refusal.getMessage().contains("\nrank 0 "), refusal.getMessage()); // the grid
    }

    private static void assertRefused(String expected, String csv) {
        assertEquals(expected, refusal(Plan.fromCsv("hand", Laps.LOOP, csv)).getMessage());
    }

    private static PlanException refusal(Plan plan) {
        return assertThrows(PlanException.class, () -> PlanValidator.check(plan, Purpose.TRAINING));
    }
}
