package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.troupe.model.LayerSquaredSum;
import dev.troupe.run.TrainingPlan;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** What must hold of a run whatever order its events come in; knows nothing of how the machines work. */
final class Truth {
    private final TrainingPlan plan;
    private final int[] begun;
    private final int[] live;
    private final Set<Action> ended = new HashSet<>();
    private final Set<Integer> exchanged = new HashSet<>();
    private final Set<Integer> tiedLanded = new HashSet<>();
    private final Set<Integer> added = new HashSet<>();
    private final Set<Integer> measured = new HashSet<>();
    private final Set<Integer> updated = new HashSet<>();
    private boolean updateAllowed;
    private Pass pass;

    Truth(TrainingPlan plan) {
        this.plan = plan;
        this.begun = new int[plan.rankCount()];
        this.live = new int[plan.rankCount()];
    }

    /** The loss of a microbatch, the same in every order of events. */
    static double loss(Pass pass, int microbatch) {
        long seed = pass.step() * 1009 + microbatch * 31L + pass.kind().ordinal();
        return 3 + new SplittableRandom(seed).nextDouble();
    }

    /** The mean of a pass, summed in the order of its microbatches. */
    static double meanLoss(Pass pass, int microbatchCount) {
        double sum = 0;
        for (int microbatch = 0; microbatch < microbatchCount; microbatch++) {
            sum += loss(pass, microbatch);
        }
        return sum / microbatchCount;
    }

    static LayerSquaredSum squaredSum(Pass pass, int layer) {
        return new LayerSquaredSum(layer, new SplittableRandom(pass.step() * 2003 + layer).nextDouble());
    }

    void passStarts(Pass next) {
        assertTrue(pass == null || isWholePass(), () -> next + " starts before " + pass + " is whole");
        pass = next;
        ended.clear();
        List.of(exchanged, tiedLanded, added, measured, updated).forEach(Set::clear);
        updateAllowed = false;
        for (int rank = 0; rank < begun.length; rank++) {
            begun[rank] = 0;
            assertEquals(0, live[rank], "live activations of rank " + rank + " between two passes");
        }
    }

    void computeBegins(int rank, Action action) {
        List<Action> row = computeRow(rank);
        assertTrue(begun[rank] < row.size(), () -> action + " after the end of the row of rank " + rank);
        assertEquals(row.get(begun[rank]++), action, "the next action of rank " + rank);
        switch (action.kind()) {
            case FORWARD -> {
                assertTrue(action.stage() == 0 || ended.contains(of(action.stage() - 1, Kind.FORWARD, action)),
                        () -> action + " before its input is there");
                live[rank] += pass.kind() == Pass.Kind.TRAINING ? 1 : 0;
                assertTrue(live[rank] <= plan.row(pass.kind(), rank).peakActivations(),
                        () -> "rank " + rank + " holds " + live[rank] + " live activations");
            }
            case FULL_BACKWARD, BACKWARD_INPUT -> {
                assertTrue(ended.contains(action.as(Kind.FORWARD)), () -> action + " before its forward");
                assertTrue(action.stage() == plan.partition().stageCount() - 1
                        || ended.contains(of(action.stage() + 1, Kind.FULL_BACKWARD, action))
                        || ended.contains(of(action.stage() + 1, Kind.BACKWARD_INPUT, action)),
                        () -> action + " before its gradient is there");
            }
            case BACKWARD_WEIGHT ->
                assertTrue(ended.contains(action.as(Kind.BACKWARD_INPUT)), () -> action + " before its other half");
            case SEND_F, RECV_F, SEND_B, RECV_B -> fail(action + " computes nothing");
        }
    }

    private static Action of(int stage, Kind kind, Action like) {
        return new Action(stage, kind, like.microbatch());
    }

    void computeEnds(int rank, Action action) {
        assertTrue(ended.add(action), () -> action + " twice in " + pass);
        if (action.kind() == Kind.FULL_BACKWARD || action.kind() == Kind.BACKWARD_WEIGHT) {
            live[rank]--;
        }
    }

    void sends(Action send) {
        boolean made = switch (send.kind()) {
            case SEND_F -> ended.contains(send.as(Kind.FORWARD));
            case SEND_B -> ended.contains(send.as(Kind.FULL_BACKWARD)) || ended.contains(send.as(Kind.BACKWARD_INPUT));
            case FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, RECV_F, RECV_B -> false;
        };
        assertTrue(made, () -> send + " before what it sends is computed");
    }

    void exchange(int rank, int stage) {
        assertTrue(isRowDone(rank), () -> "stage " + stage + " exchanges before rank " + rank + " is at its row's end");
        assertTrue(exchanged.add(stage), () -> "stage " + stage + " exchanges twice");
    }

    void tiedLands(int stage) {
        tiedLanded.add(stage);
    }

    void add(int stage) {
        assertTrue(tiedLanded.contains(stage), () -> "stage " + stage + " adds what has not landed");
        assertTrue(added.add(stage), () -> "stage " + stage + " adds twice");
    }

    void measure(int rank, int stage) {
        assertTrue(isRowDone(rank), () -> "stage " + stage + " measures before the end of the row");
        assertEquals(plan.exchangesTiedGradient(stage), added.contains(stage), "whether stage " + stage + " added");
        assertTrue(measured.add(stage), () -> "stage " + stage + " measures twice");
    }

    void updateAllowed() {
        assertEquals(plan.partition().stageCount(), measured.size(), "stages measured when the update is allowed");
        updateAllowed = true;
    }

    void update(int stage) {
        assertTrue(updateAllowed, () -> "stage " + stage + " updates before the norm is known");
        assertTrue(updated.add(stage), () -> "stage " + stage + " updates twice");
    }

    void commits(StepResult result) {
        assertEquals(plan.partition().stageCount(), updated.size(), "stages updated at the commit");
        assertEquals(pass.step(), result.step());
        assertEquals(meanLoss(pass, plan.training().plan().microbatchCount()), result.loss(), "mean loss, bit for bit");
        double sum = 0;
        for (int layer = 0; layer < plan.model().layerCount(); layer++) {
            sum += squaredSum(pass, layer).squaredSum();
        }
        assertEquals(Math.sqrt(sum), result.gradientNorm(), "gradient norm, bit for bit");
    }

    boolean isWholePass() {
        for (int rank = 0; rank < begun.length; rank++) {
            if (!isRowDone(rank)) {
                return false;
            }
        }
        return pass.kind() == Pass.Kind.HELD_OUT || updated.size() == plan.partition().stageCount();
    }

    private boolean isRowDone(int rank) {
        List<Action> row = computeRow(rank);
        return begun[rank] == row.size() && ended.containsAll(row);
    }

    private List<Action> computeRow(int rank) {
        List<Action> row = new ArrayList<>(plan.row(pass.kind(), rank).actions());
        row.removeIf(action -> action.kind().isMessage());
        return row;
    }
}
