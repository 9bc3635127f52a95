package dev.troupe.protocol.rank;

import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The measurements of a rank in the steps of the pass in progress, and the decisions on them.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class StepsUnderWay {
    private final RunPlan plan;
    private final Map<Integer, List<ActionResult>> measured = new HashMap<>();
    private final List<WeightUpdate> decided = new ArrayList<>();
    private Pass pass;

    public StepsUnderWay(RunPlan plan) {
        this.plan = plan;
    }

    /**
     * A pass begins.
     *
     * @param updates the decided updates of its first steps
     */
    public void begin(Pass started, List<WeightUpdate> updates) {
        pass = started;
        measured.clear();
        decided.clear();
        decided.addAll(updates);
    }

    public void measured(Action action, ActionResult result) {
        if (!result.equals(ActionResult.NOTHING)) {
            measured.computeIfAbsent(plan.rows().stepInRow(pass.kind(), action), _ -> new ArrayList<>()).add(result);
        }
    }

    /** Returns the measurements of a step of the run, and forgets them. */
    public ActionResult takeMeasured(long step) {
        List<MicrobatchLoss> losses = new ArrayList<>();
        List<LayerSquaredSum> squaredSums = new ArrayList<>();
        List<ActionResult> results = measured.remove((int) (step - pass.step()));
        if (results != null) {
            results.forEach(result -> {
                losses.addAll(result.losses());
                squaredSums.addAll(result.squaredSums());
            });
        }
        return new ActionResult(losses, squaredSums);
    }

    /**
     * Takes the decided update of a step; returns the step's index in the row. If an earlier decision was lost, it is of no
     * use.
     */
    public int decided(WeightUpdate update) {
        int step = pass == null ? 0 : (int) (update.step() - pass.step());
        if (step == decided.size()) {
            decided.add(update);
        }
        return step;
    }

    /** Returns the weight update of an action; empty if the action is no update. */
    public Optional<WeightUpdate> updateOf(Action action) {
        return action.kind() == Kind.UPDATE
                ? Optional.of(decided.get(plan.rows().stepInRow(pass.kind(), action)))
                : Optional.empty();
    }

    /** Returns the pass as an action sees it: its loss scale comes from the last update before the weights that it reads. */
    public Pass passOf(Action action) {
        Plan rows = plan.training().plan();
        int updates = action.namesVersion() ? action.version() - rows.firstVersion() : 0;
        return updates <= 0 ? pass : new Pass(pass.step(), pass.kind(), decided.get(updates - 1).nextLossScale());
    }
}
