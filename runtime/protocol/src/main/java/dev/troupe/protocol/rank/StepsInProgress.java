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
public final class StepsInProgress {
    private final RunPlan plan;
    private final Map<Integer, List<ActionResult>> measured = new HashMap<>();
    private final List<WeightUpdate> decided = new ArrayList<>();
    private Pass pass;

    public StepsInProgress(RunPlan plan) {
        this.plan = plan;
    }

    /**
     * Begins a pass.
     *
     * @param updates the updates of its first steps that are already decided
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

    /** Returns the measurements of a step of the run, and drops them. */
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

    /** Records the decided update of a step, unless an earlier decision is missing. Returns the step's index in the row. */
    public int decided(WeightUpdate update) {
        int step = pass == null ? 0 : (int) (update.step() - pass.step());
        if (step == decided.size()) {
            decided.add(update);
        }
        return step;
    }

    /** Returns the weight update for an action; empty unless the action is an update. */
    public Optional<WeightUpdate> updateOf(Action action) {
        return action.kind() == Kind.UPDATE
                ? Optional.of(decided.get(plan.rows().stepInRow(pass.kind(), action)))
                : Optional.empty();
    }

    /** Returns the pass with the loss scale of an action, which was decided with the weights that the action reads. */
    public Pass passOf(Action action) {
        Plan rows = plan.training().plan();
        int updates = action.namesVersion() ? action.version() - rows.firstVersion() : 0;
        return updates <= 0 ? pass : new Pass(pass.step(), pass.kind(), decided.get(updates - 1).nextLossScale());
    }
}
