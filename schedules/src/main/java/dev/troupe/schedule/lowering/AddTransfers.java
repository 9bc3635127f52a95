package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The pass that adds the sends and receives of activations and gradients. A send is right after the action that makes its
 * tensor, a receive right before the action that uses it. Stages of one rank need no message.
 *
 * <pre>
 *          0F0          0B0              0F0 0SEND_F0 0RECV_B0 0B0
 *              1F0 1B0           =>      1RECV_F0 1F0 1B0 1SEND_B0
 * </pre>
 *
 * <p>Two actions that overlap are a pair: the receives of both are before it, and the sends of both after it.
 *
 * <p>Only a receive can block its rank; the transport queues every send. So messages add no deadlock, whatever the order of
 * sends and receives of different edges.
 */
public record AddTransfers() implements LoweringPass {
    /**
     * Returns the plan with its messages.
     *
     * @throws PlanException if the plan has other actions than computing
     */
    @Override
    public Plan apply(Plan plan) {
        if (!plan.onlyComputes()) {
            throw new PlanException("Plan \"" + plan.name()
                    + "\" has sends, receives or actions of a whole step already: lower a plan that only computes.");
        }
        Set<Place> overlaps = new HashSet<>();
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            rows.add(lowerRow(plan, rank, overlaps));
        }
        return plan.withRows(rows, overlaps);
    }

    private static List<Action> lowerRow(Plan plan, int rank, Set<Place> overlaps) {
        List<Action> row = plan.rows().get(rank);
        List<Action> lowered = new ArrayList<>();
        for (int position = 0; position < row.size(); position++) {
            boolean pair = plan.overlaps().contains(new Place(rank, position));
            List<Action> together = row.subList(position, position + (pair ? 2 : 1));
            together.forEach(action -> add(plan, lowered, action, Kind.RECV_F, Kind.RECV_B));
            if (pair) {
                overlaps.add(new Place(rank, lowered.size()));
            }
            lowered.addAll(together);
            together.forEach(action -> add(plan, lowered, action, Kind.SEND_F, Kind.SEND_B));
            position += together.size() - 1;
        }
        return lowered;
    }

    private static void add(Plan plan, List<Action> lowered, Action action, Kind ofForward, Kind ofBackward) {
        if (action.kind() == Kind.FORWARD) {
            addWhereNeeded(plan, lowered, action.as(ofForward));
        } else if (action.kind().makesInputGradient()) {
            addWhereNeeded(plan, lowered, action.as(ofBackward));
        }
    }

    private static void addWhereNeeded(Plan plan, List<Action> lowered, Action message) {
        if (plan.needsMessage(message)) {
            lowered.add(message);
        }
    }
}
