package dev.troupe.run;

import dev.troupe.machine.Pass;
import dev.troupe.machine.RankRow;
import dev.troupe.model.ModelConfig;
import dev.troupe.model.Partition;
import dev.troupe.model.StageSettings;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Lowering;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.builder.ForwardOnly;
import dev.troupe.schedule.builder.Schedule;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageKind;
import java.util.List;

/**
 * When, what and where as one: the certified plan of a training step, that of a pass over held-out data, and the layers
 * of each stage. Immutable.
 *
 * @param partition
 *            the layers of each stage
 * @param stageSettings
 *            sizes and optimizer of every stage
 * @param training
 *            the certified plan of a step
 * @param heldOut
 *            the certified plan of a forward pass over held-out data
 */
public record TrainingPlan(Partition partition, StageSettings stageSettings, Certificate training,
        Certificate heldOut) {
    /**
     * Plans a run and certifies the plan.
     *
     * @param heldOutMicrobatches
     *            microbatches of a pass over held-out data, at least 1
     * @throws dev.troupe.schedule.PlanException
     *             where the schedule is not defined for these numbers
     * @throws RequestException
     *             where the layers cannot be assigned so
     */
    public static TrainingPlan of(ModelConfig model, StageSettings settings, String layout, Schedule schedule,
            int pipeline, int virtualStages, int heldOutMicrobatches, int creditsPerEdge) {
        Plan compute = schedule.plan(pipeline, virtualStages, settings.microbatchesPerStep());
        Plan forwards = new ForwardOnly(compute.placement()).plan(pipeline, virtualStages, heldOutMicrobatches);
        return new TrainingPlan(partition(model, compute.stageCount(), layout), settings,
                PlanValidator.certify(Lowering.lower(compute), Purpose.TRAINING, creditsPerEdge),
                PlanValidator.certify(Lowering.lower(forwards), Purpose.FORWARD_ONLY, creditsPerEdge));
    }

    private static Partition partition(ModelConfig model, int stageCount, String layout) {
        try {
            return Partition.of(model, stageCount, layout);
        } catch (IllegalArgumentException refused) {
            throw new RequestException("parallel.layout: " + refused.getMessage(), refused);
        }
    }

    public ModelConfig model() {
        return partition.model();
    }

    public int rankCount() {
        return training.plan().rankCount();
    }

    /** The stages that a rank holds, ascending. */
    public List<Integer> stagesOf(int rank) {
        return training.plan().stagesOf(rank);
    }

    /** What a rank does in a pass. */
    public RankRow row(Pass.Kind kind, int rank) {
        Certificate certificate = switch (kind) {
            case TRAINING -> training;
            case HELD_OUT -> heldOut;
        };
        return new RankRow(certificate.plan().rows().get(rank), certificate.peakActivations().get(rank));
    }

    /** Messages that may be unconsumed on an edge. */
    public int creditsPerEdge() {
        return training.creditsPerEdge();
    }

    /** Whether a send or receive crosses ranks; stages of one rank hand over without a message. */
    public boolean needsMessage(Action message) {
        return training.plan().needsMessage(message);
    }

    /** The way of a send or receive over the transport. */
    public Edge edgeOf(Action message) {
        return switch (message.kind()) {
            case SEND_F -> edge(message.stage(), message.peerStage(), MessageKind.ACTIVATION);
            case RECV_F -> edge(message.peerStage(), message.stage(), MessageKind.ACTIVATION);
            case SEND_B -> edge(message.stage(), message.peerStage(), MessageKind.GRADIENT);
            case RECV_B -> edge(message.peerStage(), message.stage(), MessageKind.GRADIENT);
            case FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT ->
                throw new IllegalArgumentException(message + " is no message");
        };
    }

    /** The stage that sends on an edge. */
    public int senderOf(Edge edge) {
        return switch (edge.kind()) {
            case ACTIVATION -> edge.stage() - 1;
            case GRADIENT -> edge.stage() + 1;
            case TIED_GRADIENT -> otherTiedStage(edge.stage());
        };
    }

    /** Whether a stage has one end of a tied table whose other end is on another stage. */
    public boolean exchangesTiedGradient(int stage) {
        int last = partition.stageCount() - 1;
        return model().tiedEmbeddings() && last > 0 && (stage == 0 || stage == last);
    }

    /** The stage with the other end of the tied table. */
    public int otherTiedStage(int stage) {
        return stage == 0 ? partition.stageCount() - 1 : 0;
    }

    /** The way of a tied table's gradient to the stage with the other end. */
    public Edge tiedEdge(int fromStage, int toStage) {
        return edge(fromStage, toStage, MessageKind.TIED_GRADIENT);
    }

    private Edge edge(int fromStage, int toStage, MessageKind kind) {
        return new Edge(training.plan().rankOf(fromStage), training.plan().rankOf(toStage), toStage, kind);
    }
}
