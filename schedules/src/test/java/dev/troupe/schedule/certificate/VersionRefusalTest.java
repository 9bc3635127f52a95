package dev.troupe.schedule.certificate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.PipeDream2Bw.Updates;
import dev.troupe.schedule.lowering.AddTransfers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Plans with overlapping steps, with one edit too many. */
@Tag("plan")
class VersionRefusalTest {
    private static final Plan COMPUTING = new PipeDream2Bw(Updates.LAZY, 1).plan(3, 3, 4);
    private static final Plan SOUND = new AddTransfers().apply(COMPUTING);

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "0F6@1 | 0F6@0 | rank 0, position 25: 0F7@1 reads version 1, but 0F6@0 of the same step reads version 0: the"
                    + " gradients of a step are taken at one version of the weights.",
            "0B6@1 | 0B6@0 | rank 0, position 32: 0B6@0 goes back over version 0 of the weights, but its forward is 0F6@1: a"
                    + " microbatch reads one version.",
            "0F6@1 | 0F6@2 | rank 0, position 21: 0F6@2 reads version 2 of the weights of stage 0, but the newest one in its"
                    + " row is then version 1: move 0UPDATE1 in front of it.",
            "0F6@1 | 0F6 | rank 0, position 21: 0F6 names no version of the weights, but the steps of the plan overlap: write"
                    + " 0F6@0, or the version that it reads.",
            "1UPDATE2 | 1UPDATE0 | rank 1, position 74: 1UPDATE0 occurs twice, first at position 33 already: take one of"
                    + " them out.",
            "1UPDATE2 | 1UPDATE | rank 1, position 74: 1UPDATE names no step, but the steps of the plan overlap: write"
                    + " 1UPDATE0, or the step that it belongs to.",
            "1UPDATE2 | 1UPDATE4 | rank 1, position 74: 1UPDATE4 names step 4, but the last step of the plan is 3.",
            "1UPDATE2 | 1SNAPSHOT2 | rank 1, position 76: 1UPDATE2 is missing: other stages end the step, so stage 1 does,"
                    + " too."})
    void shouldReportWhatIsWrong(String from, String to, String found) {
        Plan plan = edited(row -> {
            int position = row.indexOf(Action.parse(from));
            if (position >= 0) {
                row.set(position, Action.parse(to));
            }
        });
        assertEquals("Plan \"pipedream-2bw\", " + found, refusal(plan).sentence());
    }

    @Test
    void shouldRefuseToGatherWeightsOfSeveralVersions() {
        Plan plan = edited(row -> row.add(new Action(row.getLast().stage(), Kind.UNSHARD, 2)));
        assertEquals(
                "Plan \"pipedream-2bw\", rank 0, position 52: 0UNSHARD2 does not follow 0UPDATE2: if the steps of a plan"
                        + " overlap, weights have several versions, and those after an update are gathered right after it.",
                refusal(plan).sentence());
    }

    @Test
    void shouldRefuseUpdatesThatAreNotInTheOrderOfSteps() {
        Plan plan = edited(row -> Collections.swap(row, row.size() - 2, row.size() - 1));
        assertEquals(
                "Plan \"pipedream-2bw\", rank 0, position 50: 0UPDATE3 comes when the update of step 2 is due: a stage"
                        + " updates its weights in the order of steps.",
                refusal(plan).sentence());
    }

    /** Every update to every other place of its row: sound from the last gradient of its step to the first reader. */
    @Test
    void shouldRefuseEveryUpdateThatIsMovedBeyondItsGradientsOrItsReaders() {
        int sound = 0;
        int refused = 0;
        for (int rank = 0; rank < COMPUTING.rankCount(); rank++) {
            List<Action> row = COMPUTING.rows().get(rank);
            for (int step = 0; step < SOUND.stepCount(); step++) {
                Action update = new Action(rank, Kind.UPDATE, step);
                for (int to = 0; to < row.size(); to++) {
                    List<Action> moved = new ArrayList<>(row);
                    moved.remove(update);
                    moved.add(to, update);
                    if (isSound(moved, update)) {
                        PlanValidator.certify(lowered(rank, moved), Purpose.TRAINING, 1);
                        sound++;
                    } else {
                        refusal(lowered(rank, moved));
                        refused++;
                    }
                }
            }
        }
        assertTrue(sound > 12 && refused > 200, sound + " and " + refused);
    }

    private static boolean isSound(List<Action> row, Action update) {
        int at = row.indexOf(update);
        int step = update.microbatch();
        for (int position = 0; position < row.size(); position++) {
            Action action = row.get(position);
            boolean isLate = action.kind() == Kind.UPDATE && action.microbatch() > step
                    || action.namesVersion() && action.version() > step;
            boolean isEarly = action.kind() == Kind.UPDATE && action.microbatch() < step
                    || action.kind().freesActivation() && SOUND.stepOf(action) <= step;
            if (isLate && position < at || isEarly && position > at) {
                return false;
            }
        }
        return true;
    }

    @Test
    void shouldRefuseEveryActionThatIsDropped() {
        forEachAction((rank, position) -> {
            List<Action> row = new ArrayList<>(SOUND.rows().get(rank));
            row.remove(position);
            refusal(with(rank, row));
        });
    }

    @Test
    void shouldRefuseEveryActionOnAnotherVersion() {
        forEachAction((rank, position) -> {
            List<Action> row = new ArrayList<>(SOUND.rows().get(rank));
            Action action = row.get(position);
            for (int version = 0; action.namesVersion() && version <= SOUND.stepCount(); version++) {
                if (version != action.version()) {
                    row.set(position, action.on(version));
                    refusal(with(rank, row));
                }
            }
        });
    }

    @Test
    void shouldRefuseAnUpdateThatIsSwappedWithTheForwardAfterIt() {
        for (int rank = 0; rank < COMPUTING.rankCount(); rank++) {
            for (int step = 0; step < COMPUTING.stepCount() - 2; step++) {
                List<Action> row = new ArrayList<>(COMPUTING.rows().get(rank));
                int at = row.indexOf(new Action(rank, Kind.UPDATE, step));
                Action reader = row.get(at + 1);
                assertEquals(Kind.FORWARD, reader.kind());
                Collections.swap(row, at, at + 1);
                String sentence = refusal(lowered(rank, row)).sentence();
                assertTrue(sentence
                        .contains(": " + reader + " reads version " + reader.version() + " of the weights of stage "
                                + rank + ", but the newest one in its row is then version " + step),
                        sentence);
            }
        }
    }

    private interface Edit {
        void at(int rank, int position);
    }

    private static void forEachAction(Edit edit) {
        for (int rank = 0; rank < SOUND.rankCount(); rank++) {
            for (int position = 0; position < SOUND.rows().get(rank).size(); position++) {
                edit.at(rank, position);
            }
        }
    }

    private interface RowEdit {
        void of(List<Action> row);
    }

    private static Plan edited(RowEdit edit) {
        List<List<Action>> rows = new ArrayList<>();
        for (List<Action> row : SOUND.rows()) {
            List<Action> other = new ArrayList<>(row);
            edit.of(other);
            rows.add(other);
        }
        return SOUND.withRows(rows);
    }

    private static Plan with(int rank, List<Action> row) {
        List<List<Action>> rows = new ArrayList<>(SOUND.rows());
        rows.set(rank, row);
        return SOUND.withRows(rows);
    }

    private static Plan lowered(int rank, List<Action> row) {
        List<List<Action>> rows = new ArrayList<>(COMPUTING.rows());
        rows.set(rank, row);
        return new AddTransfers().apply(COMPUTING.withRows(rows));
    }

    private static PlanException refusal(Plan plan) {
        PlanException refusal = assertThrows(PlanException.class,
                () -> PlanValidator.certify(plan, Purpose.TRAINING, 2), plan::toCsv);
        assertTrue(refusal.getMessage().contains("\nrank 0 "), refusal.getMessage()); // the grid
        assertTrue(!refusal.places().isEmpty(), refusal.getMessage());
        return refusal;
    }
}
