package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;

/**
 * The way that activations or gradients take between two neighbouring stages on different ranks. Activations go from a
 * stage to the next, gradients from a stage to the one before.
 */
public record Edge(int fromRank, int fromStage, int toRank, int toStage) {

    /** Returns the edge on which a send or a receive of a plan travels. */
    public static Edge of(Plan plan, Action message) {
        int peer = plan.peerStage(message);
        return message.kind().isSend()
                ? between(plan, message, message.stage(), peer)
                : between(plan, message, peer, message.stage());
    }

    private static Edge between(Plan plan, Action message, int fromStage, int toStage) {
        return new Edge(plan.rankOf(fromStage, message), fromStage, plan.rankOf(toStage, message), toStage);
    }

    /** Returns whether activations travel on this edge, not gradients. */
    public boolean isForward() {
        return toStage > fromStage;
    }

    @Override
    public String toString() {
        return "stage " + fromStage + " (rank " + fromRank + ") to stage " + toStage + " (rank " + toRank + ")";
    }
}
