package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.StageGraph;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The check that a row has the actions of the whole step in a possible order: gradients are complete, then exchanged, then
 * measured, then used. The norm counts a shared parameter once, at its first stage. So if steps overlap, the other stage may
 * take its norm before it has received the first stage's gradient. {@link DryRun} checks that an update comes after the
 * norms of all stages, and that a received gradient was sent.
 */
final class StepCheck {
    /**
     * The kinds that make, change or read a stage's gradients; each kind of a list comes before the kinds of later lists.
     */
    private static final List<List<Kind>> ORDER = List.of(List.of(Kind.FULL_BACKWARD, Kind.BACKWARD_WEIGHT),
            List.of(Kind.SEND_SHARED), List.of(Kind.RECV_SHARED), List.of(Kind.REDUCE_GRAD), List.of(Kind.NORM),
            List.of(Kind.UPDATE), List.of(Kind.SNAPSHOT));
    /** The same if steps overlap: each gradient of a shared parameter is summed over ranks before it is sent. */
    private static final List<List<Kind>> ORDER_OF_OVERLAPPING = List.of(
            List.of(Kind.FULL_BACKWARD, Kind.BACKWARD_WEIGHT), List.of(Kind.REDUCE_GRAD), List.of(Kind.SEND_SHARED),
            List.of(Kind.RECV_SHARED), List.of(Kind.NORM), List.of(Kind.UPDATE), List.of(Kind.SNAPSHOT));

    private final PlanIndex index;
    private final Plan plan;
    private final Purpose purpose;
    /**
     * The kinds that every stage needs in each step if one stage has them; a plan that places its updates may omit norms.
     */
    private final List<Kind> needed;
    private final List<List<Kind>> order;

    StepCheck(PlanIndex index, Purpose purpose) {
        this.index = index;
        this.plan = index.plan();
        this.purpose = purpose;
        boolean measures = !index.overlapsSteps()
                || plan.rows().stream().flatMap(List::stream).anyMatch(action -> action.kind() == Kind.NORM);
        this.order = index.overlapsSteps() && plan.stageCount() > 1 ? ORDER_OF_OVERLAPPING : ORDER;
        this.needed = measures ? List.of(Kind.NORM, Kind.UPDATE) : List.of(Kind.UPDATE);
    }

    void run() {
        boolean updates = plan.rows().stream().flatMap(List::stream).anyMatch(StepCheck::isOfTraining);
        List<Map<Integer, List<Action>>> ofStages = plan.rows().stream()
                .map(row -> row.stream().collect(Collectors.groupingBy(Action::stage))).toList();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            for (int rank : plan.ranksOf(stage)) {
                run(rank, stage, ofStages.get(rank).getOrDefault(stage, List.of()), updates);
            }
        }
    }

    private void run(int rank, int stage, List<Action> row, boolean updates) {
        if (updates) {
            requireAll(rank, stage, row);
        }
        row.forEach(action -> requireOtherEnd(rank, action));
        // The steps of a round have one update.
        row.stream().collect(Collectors.groupingBy(action -> plan.updatesBefore(stage, plan.stepOf(action)))).values()
                .forEach(round -> requireOrder(rank, round));
        requireWeights(rank, row);
    }

    private static boolean isOfTraining(Action action) {
        return !action.kind().isPerMicrobatch() && action.kind() != Kind.UNSHARD && action.kind() != Kind.RESHARD;
    }

    /** Requires that a plan with an update has one for every stage, and trains. */
    private void requireAll(int rank, int stage, List<Action> row) {
        if (purpose == Purpose.FORWARD_ONLY) {
            row.stream().filter(StepCheck::isOfTraining).findFirst().ifPresent(action -> {
                throw index.refusal(index.find(rank, action), "nothing is trained",
                        action + " is of a training step, but the plan is for forwards only: take it out.");
            });
            return;
        }
        for (int step = 0; step < plan.stepCount(); step++) {
            if (plan.updatesBehind(stage, step)) {
                requireAll(rank, stage, step);
            }
        }
    }

    private void requireAll(int rank, int stage, int step) {
        for (Kind kind : needed) {
            Action action = new Action(stage, kind, index.overlapsSteps() ? step : Action.WHOLE_STEP);
            if (!index.has(rank, action)) {
                throw index.refusal(index.endOf(rank), action + " is missing", action
                        + " is missing: other stages end the step, so stage " + stage + " does, too.");
            }
        }
        Action sum = new Action(stage, Kind.REDUCE_GRAD, step);
        if (plan.replicas(stage) > 1 && needed.contains(Kind.NORM) && !index.has(rank, sum)) {
            throw index.refusal(index.endOf(rank), sum + " is missing", sum + " is missing: the " + plan.replicas(stage)
                    + " replicas of stage " + stage
                    + " add up their gradients in front of each update, or their weights"
                    + " would part.");
        }
    }

    private void requireOtherEnd(int rank, Action action) {
        if (!action.kind().isMessage() || action.kind().isTransfer()) {
            return;
        }
        int peer = plan.peerStage(action);
        if (plan.stagesUpdateAlone() && peer != action.stage()) {
            throw index.refusal(index.find(rank, action), "waits for another stage", action
                    + " is between two stages, but each stage of this plan updates its weights alone: a parameter of two stages"
                    + " would wait for both, and be older than the others.");
        }
        if (peer == StageGraph.NONE || action.kind().isSend() && peer == action.stage()) {
            throw index.refusal(index.find(rank, action), "no other end",
                    action + " has no other stage to go between: stage "
                            + action.stage() + " shares no parameter with one, so take the message out.");
        }
        if (peer != action.stage() && !index.has(plan.peer(action))) {
            throw index.refusal(index.find(rank, action), "no other end",
                    action + " is alone: rank " + plan.rankOf(plan.peer(action))
                            + " has no " + plan.peer(action) + ".");
        }
    }

    private void requireOrder(int rank, List<Action> row) {
        int reached = 0;
        Action latest = null;
        for (Action action : row) {
            int place = placeOf(action.kind());
            if (place >= 0 && place < reached && !(latest.kind() == Kind.NORM && isOfSecondUse(action))) {
                throw index.refusal(index.find(rank, action), "after " + latest, action + " comes after " + latest
                        + ": gradients are complete, exchanged, summed, measured and used in this order, so move "
                        + latest + " after " + action + ".");
            }
            if (place > reached) {
                reached = place;
                latest = action;
            }
        }
    }

    /** Returns whether an action receives the gradient of a parameter that another stage counts. */
    private boolean isOfSecondUse(Action action) {
        return index.overlapsSteps() && action.kind() == Kind.RECV_SHARED && plan.peerStage(action) < action.stage();
    }

    private int placeOf(Kind kind) {
        for (int place = 0; place < order.size(); place++) {
            if (order.get(place).contains(kind)) {
                return place;
            }
        }
        return -1;
    }

    /** Requires that weights are gathered before they are freed, and are read only in between. */
    private void requireWeights(int rank, List<Action> row) {
        if (row.isEmpty()) {
            return;
        }
        Action gather = row.getFirst().as(Kind.UNSHARD);
        Action letGo = row.getFirst().as(Kind.RESHARD);
        if (!index.has(rank, letGo)) {
            requireAfterUpdate(rank, gather);
            return;
        }
        for (Action action : row) {
            boolean reads = action.kind().isCompute() || action.equals(gather);
            if (reads && (!index.has(rank, gather) || index.isBefore(rank, action, gather)
                    || index.isBefore(rank, letGo, action))) {
                throw index.refusal(index.find(rank, action), "reads weights",
                        action + " does not stand between " + gather
                                + " and " + letGo
                                + ": weights of which a rank has a share are read while they are gathered.");
            }
        }
    }

    /** Requires an update before a gather: weights that are never freed are gathered only after updates. */
    private void requireAfterUpdate(int rank, Action gather) {
        Action update = gather.as(Kind.UPDATE);
        boolean isBehind = !index.has(rank, gather)
                || index.has(rank, update) && index.isBefore(rank, update, gather);
        if (!isBehind) {
            throw index.refusal(index.find(rank, gather), "for what?", gather + " is followed by no "
                    + gather.as(Kind.RESHARD) + " and follows no " + update + ": take it out.");
        }
        Action snapshot = gather.as(Kind.SNAPSHOT);
        if (index.has(rank, gather) && index.has(rank, snapshot) && index.isBefore(rank, snapshot, gather)) {
            throw index.refusal(index.find(rank, snapshot), "before " + gather,
                    snapshot + " comes before " + gather
                            + ": the snapshot keeps the gathered weights, so move it after that.");
        }
    }
}
