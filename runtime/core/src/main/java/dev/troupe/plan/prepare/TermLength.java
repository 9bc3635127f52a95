package dev.troupe.plan.prepare;

import dev.troupe.engine.DataType;
import dev.troupe.model.spec.Axis;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.TransportSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The term length of streams between nodes: the configured one, or one derived from their messages. */
public final class TermLength {
    private TermLength() {
    }

    /**
     * Returns the bytes of a term, the same on all nodes. Credits bound the messages in flight on each edge, and Aeron has
     * at most half a term in flight. So a term of twice the bytes in flight never delays a message. More than {@link
     * TransportSettings#DEFAULT_TERM_LENGTH} has no advantage: a message larger than the window is streamed through it.
     */
    public static int of(PlannedRun run, List<Integer> nodeOfRank) {
        int given = run.spec().transport().termLengthBytes();
        return given > 0 ? given : of(run.plan(), run.engine().settings().computeType(), nodeOfRank);
    }

    /** @param boundary the type of boundary tensors */
    static int of(TrainingPlan plan, DataType boundary, List<Integer> nodeOfRank) {
        Map<List<Integer>, Long> inFlight = new HashMap<>();
        for (Edge edge : plan.edges()) {
            inFlight.merge(List.of(nodeOfRank.get(edge.fromRank()), nodeOfRank.get(edge.toRank())),
                    bytesInFlight(plan, boundary, edge), Long::sum);
        }
        long most = inFlight.values().stream().mapToLong(Long::longValue).max().orElse(0);
        long wanted = Math.clamp(2 * most, TransportSettings.MIN_TERM_LENGTH, TransportSettings.DEFAULT_TERM_LENGTH);
        return Math.toIntExact(Long.highestOneBit(2 * wanted - 1));
    }

    private static long bytesInFlight(TrainingPlan plan, DataType boundary, Edge edge) {
        int hidden = plan.model().size(Axis.HIDDEN);
        int tensor = plan.ranks().tensor();
        if (edge.kind() == MessageKind.SHARED_GRADIENT) { // once a step, in the type of gradient sums
            return (long) Math.ceilDiv(plan.model().size(Axis.VOCABULARY), tensor) * hidden
                    * Math.max(Float.BYTES, boundary.elementBytes());
        }
        int rows = plan.stageSettings().rows() / (plan.sharding().cutsRows() ? tensor : 1);
        return plan.creditsPerEdge() * TrainingPlan.boundaryBytes(plan.model(), rows, boundary);
    }
}
