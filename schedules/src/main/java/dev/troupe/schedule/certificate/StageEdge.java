package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;

/**
 * The connection between two neighbouring stages on different ranks: of activations to the next stage, or of gradients to
 * the one before.
 */
public record StageEdge(int fromRank, int fromStage, int toRank, int toStage) {

    /** Returns the edge on which a send or a receive of a plan travels. */
    public static StageEdge of(Plan plan, Action message) {
        int peer = plan.peerStage(message);
        return message.kind().isSend()
                ? between(plan, message, message.stage(), peer)
                : between(plan, message, peer, message.stage());
    }

    private static StageEdge between(Plan plan, Action message, int fromStage, int toStage) {
        return new StageEdge(plan.rankOf(fromStage, message), fromStage, plan.rankOf(toStage, message), toStage);
    }

    /** Returns whether activations travel on this edge; if not, gradients do. */
    public boolean isForward() {
        return toStage > fromStage;
    }

    @Override
    public String toString() {
        return "stage " + fromStage + " (rank " + fromRank + ") to stage " + toStage + " (rank " + toRank + ")";
    }
}
