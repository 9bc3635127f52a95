package dev.troupe.plan;

import dev.troupe.config.group.Coordinates;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.machine.Pass;
import dev.troupe.machine.RankRow;
import dev.troupe.model.spec.ModelConfig;
import dev.troupe.model.Partition;
import dev.troupe.model.StageSettings;
import dev.troupe.parallel.Zero;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Lowering;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.ForwardOnly;
import dev.troupe.schedule.builder.Schedule;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageKind;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * When, what and where as one: the certified plan of a training step, that of a pass over validation data, and the layers
 * of each stage. Immutable.
 *
 * @param ranks
 *            where each rank stands; those of one pipeline place carry out the same row
 * @param sharesSequence
 *            whether the ranks of a tensor-parallel group share the rows of an activation too
 * @param zero
 *            what the ranks that hold the same weights share out among them
 * @param partition
 *            the layers of each stage
 * @param stageSettings
 *            sizes and optimizer of every stage
 * @param training
 *            the certified plan of a step
 * @param validation
 *            the certified plan of a forward pass over validation data
 */
public record TrainingPlan(ParallelLayout ranks, boolean sharesSequence, Zero zero, Partition partition,
        StageSettings stageSettings, Certificate training, Certificate validation) {
    /**
     * Plans a run and certifies the plan.
     *
     * @param settings
     *            with the microbatches of all pipelines together
     * @param validationMicrobatches
     *            microbatches of a pass over validation data in each pipeline, at least 1
     * @throws dev.troupe.schedule.PlanException
     *             where the schedule is not defined for these numbers
     * @throws UsageException
     *             where the layers cannot be assigned so
     */
    public static TrainingPlan of(ModelConfig model, StageSettings settings, String layout, Schedule schedule,
            ParallelLayout ranks, boolean sharesSequence, Zero zero, int virtualStages, int validationMicrobatches,
            int creditsPerEdge) {
        int pipeline = ranks.pipeline();
        Plan compute = schedule.plan(pipeline, virtualStages, settings.microbatchesPerStep() / ranks.data());
        Plan forwards = new ForwardOnly(compute.placement()).plan(pipeline, virtualStages, validationMicrobatches);
        return new TrainingPlan(ranks, sharesSequence, zero, partition(model, compute.stageCount(), layout), settings,
                PlanValidator.certify(Lowering.lower(compute), Purpose.TRAINING, creditsPerEdge),
                PlanValidator.certify(Lowering.lower(forwards), Purpose.FORWARD_ONLY, creditsPerEdge));
    }

    private static Partition partition(ModelConfig model, int stageCount, String layout) {
        try {
            return Partition.of(model, stageCount, layout);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("parallel.layout: " + refused.getMessage(), refused);
        }
    }

    public ModelConfig model() {
        return partition.model();
    }

    /** Ranks of the run: those of every pipeline and of every group that shares a stage. */
    public int rankCount() {
        return ranks.worldSize();
    }

    /** The ranks of each place in the pipeline: they share its weights or its stages, over all pipelines. */
    public List<List<Integer>> places() {
        return IntStream.range(0, ranks.pipeline())
                .mapToObj(place -> IntStream.range(0, rankCount())
                        .filter(rank -> ranks.coordinates(rank).pipeline() == place).boxed().toList())
                .toList();
    }

    /** The stages that a rank holds, ascending. */
    public List<Integer> stagesOf(int rank) {
        return training.plan().stagesOf(ranks.coordinates(rank).pipeline());
    }

    /** What a rank does in a pass. */
    public RankRow row(Pass.Kind kind, int rank) {
        Certificate certificate = switch (kind) {
            case TRAINING -> training;
            case VALIDATION -> validation;
        };
        int place = ranks.coordinates(rank).pipeline();
        return new RankRow(certificate.plan().rows().get(place), certificate.peakActivations().get(place));
    }

    /** The action of a rank's row that completes the gradients of a stage. */
    public Action lastBackward(int rank, int stage) {
        return row(Pass.Kind.TRAINING, rank).actions().reversed().stream()
                .filter(action -> action.stage() == stage && action.kind().freesActivation()).findFirst()
                .orElseThrow();
    }

    /** Messages that may be unconsumed on an edge. */
    public int creditsPerEdge() {
        return training.creditsPerEdge();
    }

    /** Whether a send or receive crosses ranks; stages of one rank hand over without a message. */
    public boolean needsMessage(Action message) {
        return training.plan().needsMessage(message);
    }

    /** The way over the transport of a send or receive of a rank. */
    public Edge edgeOf(int rank, Action message) {
        return switch (message.kind()) {
            case SEND_F -> edge(rank, message.stage(), message.peerStage(), MessageKind.ACTIVATION);
            case RECV_F -> edge(rank, message.peerStage(), message.stage(), MessageKind.ACTIVATION);
            case SEND_B -> edge(rank, message.stage(), message.peerStage(), MessageKind.GRADIENT);
            case RECV_B -> edge(rank, message.peerStage(), message.stage(), MessageKind.GRADIENT);
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

    /** The way of a tied table's gradient to the stage with the other end, in the pipeline of a rank. */
    public Edge tiedEdge(int rank, int fromStage, int toStage) {
        return edge(rank, fromStage, toStage, MessageKind.TIED_GRADIENT);
    }

    /** Every way over the transport between two ranks, whatever travels on it and whichever pass needs it. */
    public Set<Edge> edges() {
        Set<Edge> edges = new HashSet<>();
        for (int rank = 0; rank < rankCount(); rank++) {
            for (Pass.Kind kind : Pass.Kind.values()) {
                for (Action action : row(kind, rank).actions()) {
                    if (action.kind().isMessage()) {
                        edges.add(edgeOf(rank, action));
                    }
                }
            }
            for (int stage : stagesOf(rank)) {
                if (exchangesTiedGradient(stage)) {
                    edges.add(tiedEdge(rank, stage, otherTiedStage(stage)));
                }
            }
        }
        return edges;
    }

    private Edge edge(int rank, int fromStage, int toStage, MessageKind kind) {
        return new Edge(holder(rank, fromStage), holder(rank, toStage), toStage, kind);
    }

    /** The rank in the pipeline of another that holds a stage. */
    private int holder(int rank, int stage) {
        Coordinates at = ranks.coordinates(rank);
        return ranks.rank(new Coordinates(training.plan().rankOf(stage), at.data(), at.tensor()));
    }

    /** The ranks that write their share of the gradients to a file, each once for each of its stages. */
    public int gradientWriters() {
        return partition.stageCount() * ranks.tensor() * ranks.data();
    }

    /**
     * Returns the number in the whole step of a microbatch of a rank's pipeline: data rank d takes d M .. d M + M-1 of
     * the D M. So D pipelines read what one pipeline with D M microbatches reads, each sequence once, in the same order.
     */
    public int microbatchInStep(int rank, int microbatch) {
        return ranks.coordinates(rank).data() * training.plan().microbatchCount() + microbatch;
    }
}
