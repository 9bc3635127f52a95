package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The check of weight versions if steps overlap. A version exists when it is read; a backward reads the version of its
 * forward; updates are in the order of steps. All microbatches of a step read the same version in a stage, since a sum of
 * gradients at different weights is no gradient. {@link StepCheck} and {@link DryRun} check that an update comes after all
 * gradients of its step, on every rank.
 */
final class VersionCheck {
    private final PlanIndex index;
    private final Plan plan;
    /** By stage, the number of updates so far in the row. */
    private final int[] updates;
    /** For each stage and number of an update, the first action that read weights for it. */
    private final Map<Action, Action> firsts = new HashMap<>();

    VersionCheck(PlanIndex index) {
        this.index = index;
        this.plan = index.plan();
        this.updates = new int[plan.stageCount()];
    }

    void run() {
        requireRounds();
        if (!index.overlapsSteps()) {
            return;
        }
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            Arrays.fill(updates, 0); // each row of a stage has all of its updates
            List<Action> row = plan.rows().get(rank);
            for (int position = 0; position < row.size(); position++) {
                check(new Place(rank, position), row.get(position));
            }
        }
    }

    /** Refuses a stage on several ranks if updates by rounds are not possible. */
    private void requireRounds() {
        boolean isTrained = plan.rows().stream().flatMap(List::stream)
                .anyMatch(action -> action.kind().freesActivation());
        for (int stage = 0; isTrained && stage < plan.stageCount(); stage++) {
            int replicas = plan.replicas(stage);
            if (replicas > 1 && (!plan.stagesUpdateAlone() || plan.microbatchesPerStep() > 1
                    || plan.stepCount() % replicas != 0)) {
                throw index.refusal(index.endOf(plan.ranksOf(stage).getFirst()), "no round", "stage " + stage + " has "
                        + replicas + " replicas, which update their weights together in rounds of " + replicas
                        + " microbatches: so its plan has steps of one microbatch, a multiple of " + replicas
                        + " of them, and stages that update alone, but it has " + plan.stepCount() + " of "
                        + plan.microbatchesPerStep()
                        + (plan.stagesUpdateAlone() ? "." : ", and updates that wait for all stages."));
            }
        }
    }

    private void check(Place place, Action action) {
        switch (action.kind()) {
            case UPDATE -> checkUpdate(place, action);
            case UNSHARD -> {
                Action update = new Action(action.stage(), Kind.UPDATE, action.microbatch());
                if (place.position() == 0
                        || !plan.at(new Place(place.rank(), place.position() - 1)).equals(update)) {
                    throw index.refusal(place, "of which version?", action + " does not follow " + update
                            + ": if the steps of a plan overlap, weights have several versions, and those after an update"
                            + " are gathered right after it.");
                }
            }
            case RESHARD -> throw index.refusal(place, "of which version?", action
                    + " frees weights, but the steps of the plan overlap and weights have several versions: take it out.");
            default -> {
                if (action.kind().isCompute()) {
                    checkReader(place, action);
                }
            }
        }
    }

    private void checkUpdate(Place place, Action update) {
        int due = ++updates[update.stage()] * plan.replicas(update.stage()) - 1; // after the last step of a round
        if (update.microbatch() != due) {
            throw index.refusal(place, due + " is due", update + " comes when the update of step " + due
                    + " is due: a stage updates its weights in the order of steps.");
        }
    }

    private void checkReader(Place place, Action reader) {
        if (!reader.namesVersion()) {
            throw index.refusal(place, "which version?", reader
                    + " names no version of the weights, but the steps of the plan overlap: write " + reader.on(0)
                    + ", or the version that it reads.");
        }
        int newest = plan.firstVersion() + updates[reader.stage()];
        if (reader.version() > newest) {
            throw index.refusal(place, "not there yet", reader + " reads version " + reader.version()
                    + " of the weights of stage " + reader.stage() + ", but the newest one in its row is then version "
                    + newest + ": move "
                    + new Action(reader.stage(), Kind.UPDATE,
                            (reader.version() - plan.firstVersion()) * plan.replicas(reader.stage()) - 1)
                    + " in front of it.");
        }
        Action forward = plan.at(index.find(reader.as(Kind.FORWARD)));
        if (forward.version() != reader.version()) {
            throw index.refusal(place, "not its forward's", reader + " goes back over version " + reader.version()
                    + " of the weights, but its forward is " + forward + ": a microbatch reads one version.");
        }
        Action first = firsts.putIfAbsent(new Action(reader.stage(), Kind.UPDATE,
                plan.updatesBefore(reader.stage(), plan.stepOf(reader))), reader);
        String word = plan.replicas(reader.stage()) > 1 ? "round" : "step";
        if (first != null && first.version() != reader.version()) {
            throw index.refusal(place, "not its step's",
                    reader + " reads version " + reader.version() + ", but " + first
                            + " of the same " + word + " reads version " + first.version()
                            + ": the gradients of a " + word + " are taken at one version of the weights.");
        }
    }
}
