package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.List;

/**
 * Puts the sends and receives into a plan. A send stands right behind the action that makes its tensor, a receive right
 * before the one that needs it; stages that share a rank hand over without a message.
 *
 * <pre>
 *          0F0          0B0              0F0 0SEND_F0 0RECV_B0 0B0
 *              1F0 1B0           =>      1RECV_F0 1F0 1B0 1SEND_B0
 * </pre>
 *
 * <p>A send never blocks its rank, since the transport queues it; a receive does. So no order among sends and receives
 * of different edges can lock what the order of the computing does not lock already.
 */
public final class Lowering {
    private final Plan plan;

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
        return plan.withRows(plan.rows().stream().map(lowering::lowerRow).toList());
    }

    private List<Action> lowerRow(List<Action> row) {
        List<Action> lowered = new ArrayList<>();
        for (Action action : row) {
            switch (action.kind()) {
                case FORWARD -> {
                    addMessage(lowered, action.as(Kind.RECV_F));
                    lowered.add(action);
                    addMessage(lowered, action.as(Kind.SEND_F));
                }
                case FULL_BACKWARD, BACKWARD_INPUT -> {
                    addMessage(lowered, action.as(Kind.RECV_B));
                    lowered.add(action);
                    addMessage(lowered, action.as(Kind.SEND_B));
                }
                case BACKWARD_WEIGHT -> lowered.add(action);
                case SEND_F, RECV_F, SEND_B, RECV_B ->
                    throw new IllegalStateException(action + " in an unlowered plan");
            }
        }
        return lowered;
    }

    private void addMessage(List<Action> lowered, Action message) {
        if (plan.needsMessage(message)) {
            lowered.add(message);
        }
    }
}
