package dev.troupe.plan;

import dev.troupe.config.group.Coordinates;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.RankRow;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.partition.Partition;
import dev.troupe.stage.StageSettings;
import dev.troupe.parallel.Zero;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.ForwardOnly;
import dev.troupe.schedule.builder.Schedule;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.lowering.AddNormAndUpdate;
import dev.troupe.schedule.lowering.AddReduceGradients;
import dev.troupe.schedule.lowering.AddSharedGradients;
import dev.troupe.schedule.lowering.AddSnapshot;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.lowering.AddUnshard;
import dev.troupe.schedule.lowering.LoweringPass;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
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
    /** Of what travels once in a step. */
    private static final int ONLY_MESSAGE = 0;

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
    public static TrainingPlan of(ModelSpec model, StageSettings settings, String layout, Schedule schedule,
            ParallelLayout ranks, boolean sharesSequence, Zero zero, int virtualStages, int validationMicrobatches,
            int creditsPerEdge) {
        int pipeline = ranks.pipeline();
        Plan compute = schedule.plan(pipeline, virtualStages, settings.microbatchesPerStep() / ranks.data());
        Plan forwards = new ForwardOnly(compute.placement()).plan(pipeline, virtualStages, validationMicrobatches);
        Partition partition = partition(model, compute.stageCount(), layout);
        boolean sharesWeights = ranks.data() > 1 && zero.includes(Zero.WEIGHTS);
        return new TrainingPlan(ranks, sharesSequence, zero, partition, settings,
                PlanValidator.certify(
                        LoweringPass.lower(compute, training(partition, ranks, sharesSequence, zero)),
                        Purpose.TRAINING, creditsPerEdge),
                PlanValidator.certify(LoweringPass.lower(forwards, weights(sharesWeights)), Purpose.FORWARD_ONLY,
                        creditsPerEdge));
    }

    /** What makes a plan that computes the whole step: it follows from the grid and from what its ranks share out. */
    private static List<LoweringPass> training(Partition partition, ParallelLayout ranks, boolean sharesSequence,
            Zero zero) {
        boolean isShared = ranks.data() > 1;
        List<LoweringPass> passes = new ArrayList<>(weights(isShared && zero.includes(Zero.WEIGHTS)));
        if (!partition.model().shared().isEmpty()) {
            passes.add(new AddSharedGradients(AddSharedGradients.between(0, partition.stageCount() - 1)));
        }
        boolean sumsAtTheEnd = isShared && !zero.includes(Zero.GRADIENTS); // else after each microbatch
        boolean ofOwnShares = sharesSequence || partition.model().parameters().values().stream()
                .anyMatch(ParameterSpec::isForOwnHeads);
        if (sumsAtTheEnd || ofOwnShares && ranks.tensor() > 1) {
            passes.add(new AddReduceGradients());
        }
        passes.add(new AddNormAndUpdate(
                isShared && zero.includes(Zero.OPTIMIZER) && !zero.includes(Zero.WEIGHTS)));
        passes.add(new AddSnapshot());
        return passes;
    }

    private static List<LoweringPass> weights(boolean areShared) {
        return areShared ? List.of(new AddTransfers(), new AddUnshard()) : List.of(new AddTransfers());
    }

    private static Partition partition(ModelSpec model, int stageCount, String layout) {
        try {
            return Partition.of(model, stageCount, layout);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("parallel.layout: " + refused.getMessage(), refused);
        }
    }

    public ModelSpec model() {
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
        Certificate certificate = certificate(kind);
        int place = ranks.coordinates(rank).pipeline();
        List<Action> row = certificate.plan().rows().get(place);
        return new RankRow(row, certificate.peakActivations().get(place), row.stream()
                .filter(action -> action.kind().isReceive() && !needsMessage(action)).collect(Collectors.toSet()));
    }

    /** The certified plan of a kind of pass. */
    public Certificate certificate(Pass.Kind kind) {
        return switch (kind) {
            case TRAINING -> training;
            case VALIDATION -> validation;
        };
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

    /** The stage at the other end of a message; {@link dev.troupe.schedule.StageGraph#NONE} where there is none. */
    public int peerStage(Action message) {
        return training.plan().peerStage(message);
    }

    /** The other end of a message. */
    public Action peer(Action message) {
        return training.plan().peer(message);
    }

    /** A send or receive of a rank as a message of the transport. */
    public MessageKey keyOf(int rank, Action message) {
        return new MessageKey(edgeOf(rank, message),
                message.kind().isPerMicrobatch() ? message.microbatch() : ONLY_MESSAGE);
    }

    /** The receive that a message of the transport fulfils. */
    public Action receiveOf(MessageKey key) {
        int stage = key.edge().stage();
        return switch (key.edge().kind()) {
            case ACTIVATION -> new Action(stage, Kind.RECV_F, key.microbatch());
            case GRADIENT -> new Action(stage, Kind.RECV_B, key.microbatch());
            case SHARED_GRADIENT -> new Action(stage, Kind.RECV_SHARED);
        };
    }

    /** The way over the transport of a send or receive of a rank. */
    public Edge edgeOf(int rank, Action message) {
        MessageKind kind = switch (message.kind()) {
            case SEND_F, RECV_F -> MessageKind.ACTIVATION;
            case SEND_B, RECV_B -> MessageKind.GRADIENT;
            case SEND_SHARED, RECV_SHARED -> MessageKind.SHARED_GRADIENT;
            default -> throw new IllegalArgumentException(message + " is no message");
        };
        int peer = peerStage(message);
        int to = message.kind().isSend() ? peer : message.stage();
        int from = message.kind().isSend() ? message.stage() : peer;
        return new Edge(holder(rank, from), holder(rank, to), to, kind);
    }

    /** The stage that sends on an edge. */
    public int senderOf(Edge edge) {
        return peerStage(receiveOf(new MessageKey(edge, ONLY_MESSAGE)));
    }

    /** Every way over the transport between two ranks, whatever travels on it and whichever pass needs it. */
    public Set<Edge> edges() {
        Set<Edge> edges = new HashSet<>();
        for (int rank = 0; rank < rankCount(); rank++) {
            for (Pass.Kind kind : Pass.Kind.values()) {
                for (Action action : row(kind, rank).actions()) {
                    if (action.kind().isMessage() && needsMessage(action)) {
                        edges.add(edgeOf(rank, action));
                    }
                }
            }
        }
        return edges;
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
