package dev.troupe.prepare;

import dev.troupe.engine.DataType;
import dev.troupe.model.spec.ModelConfig;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageKind;
import dev.troupe.transport.TransportSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How long the terms of the streams between nodes are: as given, or as what travels on them needs. */
public final class TermLength {
    private TermLength() {
    }

    /**
     * Bytes of a term, the same on all nodes. Credits bound what is under way between two nodes: so many messages on each
     * edge. Aeron lets half a term be under way, so a term of twice those bytes never holds a message up, and a longer one
     * would only take memory. Beyond {@link TransportSettings#DEFAULT_TERM_LENGTH} nothing is gained either: a message
     * goes through a window that is smaller than it as through a pipe.
     *
     * @param nodeOfRank
     *            for each rank its node
     */
    public static int of(PreparedRun run, List<Integer> nodeOfRank) {
        int given = run.spec().transport().termLengthBytes();
        return given > 0 ? given : of(run.plan(), run.boundaryType(), nodeOfRank);
    }

    /**
     * As derived.
     *
     * @param boundary
     *            the type of what stages hand on
     */
    static int of(TrainingPlan plan, DataType boundary, List<Integer> nodeOfRank) {
        Map<List<Integer>, Long> underWay = new HashMap<>();
        for (Edge edge : plan.edges()) {
            underWay.merge(List.of(nodeOfRank.get(edge.fromRank()), nodeOfRank.get(edge.toRank())),
                    bytesUnderWay(plan, boundary, edge), Long::sum);
        }
        long most = underWay.values().stream().mapToLong(Long::longValue).max().orElse(0);
        long wanted = Math.clamp(2 * most, TransportSettings.MIN_TERM_LENGTH, TransportSettings.DEFAULT_TERM_LENGTH);
        return Math.toIntExact(Long.highestOneBit(2 * wanted - 1));
    }

    private static long bytesUnderWay(TrainingPlan plan, DataType boundary, Edge edge) {
        ModelConfig model = plan.model();
        int tensor = plan.ranks().tensor();
        if (edge.kind() == MessageKind.TIED_GRADIENT) { // once a step, in the type gradients are summed in
            return (long) Math.ceilDiv(model.vocabularySize(), tensor) * model.hidden()
                    * Math.max(Float.BYTES, boundary.elementBytes());
        }
        int rows = plan.stageSettings().rows() / (plan.sharesSequence() ? tensor : 1);
        return (long) plan.creditsPerEdge() * rows * model.hidden() * boundary.elementBytes();
    }
}
