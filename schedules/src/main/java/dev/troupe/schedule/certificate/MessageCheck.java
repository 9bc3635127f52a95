package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.StageGraph;
import java.util.List;

/**
 * The check that each tensor that changes ranks is sent after the action that makes it, and received before the action that
 * uses it.
 */
final class MessageCheck {
    private final PlanIndex index;
    private final Plan plan;

    MessageCheck(PlanIndex index) {
        this.index = index;
        this.plan = index.plan();
    }

    void run() {
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<Action> row = plan.rows().get(rank);
            for (int position = 0; position < row.size(); position++) {
                check(new Place(rank, position), row.get(position));
            }
        }
    }

    private void check(Place place, Action action) {
        Kind kind = action.kind();
        if (kind == Kind.FORWARD) {
            requireReceive(place, action, action.as(Kind.RECV_F));
        } else if (kind.makesInputGradient()) {
            requireReceive(place, action, action.as(Kind.RECV_B));
        } else if (kind.isTransfer()) {
            boolean isForward = kind == Kind.SEND_F || kind == Kind.RECV_F;
            Action partner = isForward ? action.as(Kind.FORWARD) : inputGradient(action);
            if (kind.isSend()) {
                checkSend(place, action, partner);
            } else {
                checkReceive(place, action, partner);
            }
        }
    }

    /** Returns the action that makes the gradient of a message: B, or I if the backward is split. */
    private Action inputGradient(Action message) {
        Action whole = message.as(Kind.FULL_BACKWARD);
        return index.has(whole) ? whole : message.as(Kind.BACKWARD_INPUT);
    }

    private void requireReceive(Place place, Action user, Action receive) {
        // If the receive is missing too, its send is the place to mark.
        if (plan.needsMessage(receive) && !index.has(receive) && !index.has(plan.peer(receive))) {
            throw index.refusal(place, "needs " + receive, user + " has no " + receive
                    + ", but its input is made on rank " + plan.rankOf(plan.peer(receive))
                    + ": put the receive before it, or lower the plan.");
        }
    }

    private void checkSend(Place place, Action send, Action maker) {
        requireBetweenRanks(place, send);
        if (!index.has(plan.peer(send))) {
            throw index.refusal(place, "nobody receives it", send + " is a send without a receive: rank "
                    + plan.rankOf(plan.peer(send)) + " has no " + plan.peer(send) + ".");
        }
        requireThere(place, send, maker);
        if (!index.isBefore(maker, send)) {
            throw index.refusal(place, "before " + maker,
                    send + " comes before " + maker + ": a send follows the action that makes its tensor.");
        }
    }

    private void checkReceive(Place place, Action receive, Action user) {
        requireBetweenRanks(place, receive);
        if (!index.has(plan.peer(receive))) {
            throw index.refusal(place, "nobody sends it", receive + " is a receive without a send: rank "
                    + plan.rankOf(plan.peer(receive)) + " has no " + plan.peer(receive) + ".");
        }
        requireThere(place, receive, user);
        if (!index.isBefore(receive, user)) {
            throw index.refusal(place, "after " + user,
                    receive + " comes after " + user + ": a receive precedes the action that needs its tensor.");
        }
    }

    /** Requires the other end of a message: each forward, and each backward except in a plan of forwards only. */
    private void requireThere(Place place, Action message, Action partner) {
        if (!index.has(partner)) {
            throw index.refusal(place, "no backward",
                    message + " carries a gradient, but the plan has no backward of stage "
                            + message.stage() + " for microbatch " + message.microbatch() + ": take the message out.");
        }
    }

    private void requireBetweenRanks(Place place, Action message) {
        if (plan.needsMessage(message)) {
            return;
        }
        int peer = plan.peerStage(message);
        String why = peer == StageGraph.NONE
                ? "there is no stage beyond stage " + message.stage()
                : "stage " + peer + " is on the same rank";
        throw index.refusal(place, "no other end", message + " has no other rank to go between: " + why
                + ", so take the message out.");
    }
}
