package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Puts the sends and receives into a plan. A send stands right behind the action that makes its tensor, a receive right
 * before the one that needs it; stages that share a rank hand over without a message.
 *
 * <pre>
 *          0F0          0B0              0F0 0SEND_F0 0RECV_B0 0B0
 *              1F0 1B0           =>      1RECV_F0 1F0 1B0 1SEND_B0
 * </pre>
 *
 * <p>The messages of a pair stand around it, since both its inputs must be there before it begins and both its outputs
 * leave when it has ended.
 *
 * <p>A send never blocks its rank, since the transport queues it; a receive does. So no order among sends and receives
 * of different edges can lock what the order of the computing does not lock already.
 */
public final class Lowering {
    private final Plan plan;
    private final Set<Place> overlaps = new HashSet<>();

    private Lowering(Plan plan) {
        this.plan = plan;
    }

    /**
     * The plan with its messages. Computes nothing else: what is wrong in the plan is wrong in the result.
     *
     * @throws PlanException if messages stand in the plan already
     */
    public static Plan lower(Plan plan) {
        if (plan.hasMessages()) {
            throw new PlanException(
                    "Plan \"" + plan.name() + "\" has sends or receives already: lower a plan that only computes.");
        }
        Lowering lowering = new Lowering(plan);
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            rows.add(lowering.lowerRow(rank));
        }
        return plan.withRows(rows, lowering.overlaps);
    }

    private List<Action> lowerRow(int rank) {
        List<Action> row = plan.rows().get(rank);
        List<Action> lowered = new ArrayList<>();
        for (int position = 0; position < row.size(); position++) {
            boolean pair = plan.overlaps().contains(new Place(rank, position));
            List<Action> together = row.subList(position, position + (pair ? 2 : 1));
            together.forEach(action -> addReceive(lowered, action));
            if (pair) {
                overlaps.add(new Place(rank, lowered.size()));
            }
            lowered.addAll(together);
            together.forEach(action -> addSend(lowered, action));
            position += together.size() - 1;
        }
        return lowered;
    }

    private void addReceive(List<Action> lowered, Action action) {
        switch (action.kind()) {
            case FORWARD -> addMessage(lowered, action.as(Kind.RECV_F));
            case FULL_BACKWARD, BACKWARD_INPUT -> addMessage(lowered, action.as(Kind.RECV_B));
            case BACKWARD_WEIGHT -> {
            }
            case SEND_F, RECV_F, SEND_B, RECV_B -> throw new IllegalStateException(action + " in an unlowered plan");
        }
    }

    private void addSend(List<Action> lowered, Action action) {
        switch (action.kind()) {
            case FORWARD -> addMessage(lowered, action.as(Kind.SEND_F));
            case FULL_BACKWARD, BACKWARD_INPUT -> addMessage(lowered, action.as(Kind.SEND_B));
            case BACKWARD_WEIGHT -> {
            }
            case SEND_F, RECV_F, SEND_B, RECV_B -> throw new IllegalStateException(action + " in an unlowered plan");
        }
    }

    private void addMessage(List<Action> lowered, Action message) {
        if (plan.needsMessage(message)) {
            lowered.add(message);
        }
    }
}
