package dev.troupe.schedule.family;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Plans of replicas with one edit: each that breaks a rule of the plan is refused, with the grid. */
@Tag("plan")
class ReplicaEditsTest {
    @Test
    void shouldRefuseEveryEditOfOneAction() {
        for (List<Integer> shape : List.of(List.of(2, 1), List.of(1, 2), List.of(2, 1, 1))) {
            Plan sound = ReplicasTest.WHOLE.training(new PipeDream(false, shape).plan(shape.size(), 1, 6));
            for (int rank = 0; rank < sound.rankCount(); rank++) {
                for (int position = 0; position < sound.rows().get(rank).size(); position++) {
                    List<Action> row = new ArrayList<>(sound.rows().get(rank));
                    Action action = row.remove(position);
                    // No action of a row needs its snapshot.
                    if (action.kind() != Kind.SNAPSHOT) {
                        refuse(ReplicasTest.with(sound, rank, row), "without " + action);
                    }
                    row.add(position, action);
                    for (int version = 0; action.namesVersion() && version <= 7; version++) {
                        if (version != action.version()) {
                            row.set(position, action.on(version));
                            refuse(ReplicasTest.with(sound, rank, row), action + " on version " + version);
                        }
                    }
                }
                moveUpdates(sound, rank);
            }
        }
    }

    /** An update, or a sum, comes after the gradients of its round and before the first reader of the next version. */
    private static void moveUpdates(Plan sound, int rank) {
        List<Action> row = sound.rows().get(rank);
        for (Action moved : row) {
            if (moved.kind() != Kind.UPDATE && moved.kind() != Kind.REDUCE_GRAD) {
                continue;
            }
            for (int to = 0; to < row.size(); to++) {
                List<Action> other = new ArrayList<>(row);
                other.remove(moved);
                other.add(to, moved);
                if (!isSound(other)) {
                    refuse(ReplicasTest.with(sound, rank, other), moved + " at " + to);
                }
            }
        }
    }

    /**
     * Returns whether every gradient of a round is before its sum, its norm and its update, and these before their readers.
     */
    private static boolean isSound(List<Action> row) {
        int updates = 0;
        List<Action> due = new ArrayList<>();
        for (Action action : row) {
            if (action.namesVersion() && action.version() > updates) {
                return false;
            }
            switch (action.kind()) {
                case FULL_BACKWARD -> due.add(action);
                case REDUCE_GRAD, NORM, SNAPSHOT -> {
                    int step = action.microbatch();
                    boolean isBehind = row.indexOf(action) < row.indexOf(new Action(action.stage(), Kind.UPDATE, step))
                            || action.kind() == Kind.SNAPSHOT;
                    boolean isSummed = action.kind() != Kind.NORM
                            || !row.contains(new Action(action.stage(), Kind.REDUCE_GRAD, step))
                            || row.indexOf(new Action(action.stage(), Kind.REDUCE_GRAD, step)) < row.indexOf(action);
                    if (!isBehind || !isSummed || last(row, action) > row.indexOf(action)) {
                        return false;
                    }
                }
                case UPDATE -> {
                    updates++;
                    if (last(row, action) > row.indexOf(action) || !isInOrder(row)) {
                        return false;
                    }
                }
                default -> {
                }
            }
        }
        return row.getLast().kind() == Kind.SNAPSHOT;
    }

    /** Returns the position of the last gradient of the steps up to the step of an action. */
    private static int last(List<Action> row, Action ofStep) {
        return IntStream.range(0, row.size()).filter(at -> row.get(at).kind() == Kind.FULL_BACKWARD
                && row.get(at).microbatch() <= ofStep.microbatch()).max().orElse(-1);
    }

    private static boolean isInOrder(List<Action> row) {
        List<Integer> steps = row.stream().filter(action -> action.kind() == Kind.UPDATE).map(Action::microbatch)
                .toList();
        return steps.equals(steps.stream().sorted().toList());
    }

    private static void refuse(Plan plan, String edit) {
        PlanException refusal = assertThrows(PlanException.class,
                () -> PlanValidator.certify(plan, Purpose.TRAINING, 2), edit + " of\n" + plan);
        assertTrue(refusal.getMessage().contains("\nrank 0 "), refusal.getMessage()); // the grid
    }
}
