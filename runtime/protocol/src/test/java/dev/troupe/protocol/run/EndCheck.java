package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.Edge;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;

/** The conditions at the end of a run. */
record EndCheck(SimulatedPlan plan, Truth truth, Carrier carrier, long committed) {
    /** A rank has every buffer of its edges, and the last weights. */
    void check(SimulatedRank rank) {
        for (int stage : plan.stagesOf(rank.rank())) {
            assertEquals(truth.weights(rank.rank(), stage, committed), rank.weights(stage), "weights of " + stage);
            for (Action receive : plan.receivesOf(rank.rank(), stage)) {
                Edge edge = plan.edgeOf(rank.rank(), receive);
                assertEquals(plan.creditsPerEdge(), carrier.buffers(edge) + rank.landed(edge),
                        () -> "buffers of " + edge + " at the end");
            }
            Action shared = new Action(stage, Kind.RECV_SHARED);
            if (plan.needsMessage(shared)) {
                Edge edge = plan.edgeOf(rank.rank(), shared);
                assertEquals(0, carrier.buffers(edge), () -> "buffers of " + edge + " at the end");
            }
        }
    }
}
