package dev.troupe.prepare;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.checkpoint.DiskRoom;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.Buddies;
import dev.troupe.config.spec.LearningRateSpec;
import dev.troupe.config.spec.LossScaleSpec;
import dev.troupe.config.spec.OptimizerSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.data.Batches;
import dev.troupe.data.Tokenizer;
import dev.troupe.data.ValidationBatches;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.WorkCosts;
import dev.troupe.machine.LossScale;
import dev.troupe.machine.RunSettings;
import dev.troupe.machine.StragglerWatch;
import dev.troupe.model.DropoutSettings;
import dev.troupe.model.LearningRate;
import dev.troupe.model.Optimizer;
import dev.troupe.model.Recompute;
import dev.troupe.model.StageSettings;
import dev.troupe.model.TensorSharing;
import dev.troupe.model.spec.ModelConfig;
import dev.troupe.observe.ActionTrace;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.ClusterLimits;
import dev.troupe.plan.EmulatedCosts;
import dev.troupe.plan.ExpectedTimes;
import dev.troupe.plan.FaultChecks;
import dev.troupe.plan.MemoryPlan;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.builder.Schedule;
import dev.troupe.schedule.builder.Schedules;
import dev.troupe.schedule.builder.SplitCoolDown;
import dev.troupe.snapshot.Snapshots;
import dev.troupe.weights.ModelTensors;
import dev.troupe.weights.WeightSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A run of which everything was checked that can be checked before it starts. Nothing is written yet.
 *
 * <p>Thread rule: any thread may read it; close it when the run is over.
 */
public final class PreparedRun implements AutoCloseable {
    private final RunRequest request;
    private final EngineChoice engine;
    private final StartingPoint start;
    private final boolean beginsAgain;
    private final Set<Long> checkpointsFound;
    private final RunData data;
    private final TrainingPlan plan;
    private final StragglerWatch.Expectation expectation;
    private final MemoryPlan memory;
    private final boolean hasRoomToWarmUp;
    private final ActionTrace trace;
    private final List<AutoCloseable> files = new ArrayList<>();

    /**
     * Opens and checks everything a request names.
     *
     * @throws RuntimeException
     *             with a sentence for the user where the request is wrong: see {@link UserErrors}
     */
    public PreparedRun(RunRequest request) {
        this.request = request;
        RunSpec spec = request.spec();
        try {
            request.resume().filter(from -> !Checkpoint.isAt(from)).ifPresent(RunDirectory::requireResumable);
            this.beginsAgain = request.leads() && !request.continuesInPlace()
                    && RunDirectory.requireBeginnable(request.output());
            EngineChoice choice = EngineChoice.of(spec.engine(), parameterType(spec.training()),
                    computeType(spec.training()), request.ranksOfMachine().size(),
                    EngineChoice.installed());
            this.start = StartingPoint.of(spec, request.resume());
            start.files().ifPresent(files::add);
            if (start.stepsDone() > spec.training().steps()) {
                throw new UsageException("the checkpoint lies " + start.stepsDone()
                        + " steps into its run, but training.steps = " + spec.training().steps() + ": raise it");
            }
            this.checkpointsFound = request.continuesInPlace()
                    ? Checkpoint.steps(request.output()).boxed().collect(Collectors.toUnmodifiableSet())
                    : Set.of();
            requireNoLaterCheckpoint();
            SizeChecks.requireModel(start.model());
            SizeChecks.require(spec, start.model(), start.sequenceLength());
            ClusterLimits.require(spec, start.model().layerCount());
            TensorSharing.refusal(start.model(),
                    Math.multiplyExact(spec.training().microbatchSize(), start.sequenceLength()),
                    spec.parallel().tensor(), spec.parallel().sequence()).ifPresent(refusal -> {
                        throw new UsageException(refusal);
                    });
            this.data = new RunData(spec, request.builtInCorpus(), start.model(), start.sequenceLength());
            files.add(data);
            this.plan = TrainingPlan.of(start.model(),
                    new StageSettings(spec.training().microbatchSize(), start.sequenceLength(),
                            spec.parallel().data() * spec.microbatchCount(),
                            optimizer(spec.training().optimizer()), recompute(spec.training().recompute()),
                            dropout(spec.training(), choice)),
                    spec.parallel().layout(), schedule(spec.parallel()), spec.parallel().ranks(),
                    spec.parallel().sequence(), Zero.of(spec.training().zero()),
                    spec.parallel().virtualStages(), validation().map(ValidationBatches::microbatchCount).orElse(1),
                    spec.transport().credits());
            this.trace = request.trace().orElseGet(() -> ActionTrace.ofTheNewestSteps(plan.training().plan()));
            new FaultChecks(plan, start.stepsDone(), spec.training().steps(), spec.training().checkpointEvery(),
                    spec.recovery().enabled(), request.share().isPresent()).require(spec.faults());
            WorkCosts costs = new EmulatedCosts(spec.engine().emulated(), plan.partition(), plan.stageSettings());
            this.engine = choice.withCosts(costs);
            this.expectation = new ExpectedTimes(choice.provider().computes()
                    ? EmulatedCosts.ofOperations(plan)
                    : costs);
            try (Engine sizes = engine.open()) {
                this.memory = MemoryPlan.of(plan, sizes, validation().isPresent(), snapshots(), copied());
            }
            MemoryPlan here = memory.onMachine(request.ranksOfMachine(),
                    keepsCopies() ? request.ranksCopiedHere() : List.of());
            long availableBytes = MachineMemory.availableBytes();
            if (engine.provider().computes()) {
                here.requireRoom(availableBytes);
            }
            requireDisk();
            this.hasRoomToWarmUp = here.total() + memory.largestAtHome() <= availableBytes;
        } catch (RuntimeException refused) {
            close();
            throw refused;
        }
    }

    /** What the run leaves must fit the file system of its directory. */
    private void requireDisk() {
        if (leavesWeights() && request.leads()) {
            TrainingSpec training = spec().training();
            new DiskRoom(checkpointBytes(), weightCount() * Float.BYTES).require(request.output(),
                    training.keepCheckpoints(), checkpointsFound.size(), training.checkpointEvery() > 0);
        }
    }

    /** Whoever resumes from the newest checkpoint must get that of the run that wrote last. */
    private void requireNoLaterCheckpoint() {
        if (!request.continuesInPlace() || !Checkpoint.isAt(request.resume().orElseThrow())) {
            return; // of a run's directory only what is damaged was passed over
        }
        OptionalLong newest = Checkpoint.newestSteps(request.output());
        if (newest.isPresent() && newest.getAsLong() > start.stepsDone()) {
            throw new UsageException(
                    "the run in " + request.output() + " has a checkpoint after " + newest.getAsLong()
                            + " steps already, but is to go on from the one after " + start.stepsDone()
                            + ": choose another directory with --out, or move the later checkpoints away");
        }
    }

    private static Schedule schedule(ParallelSpec parallel) {
        Schedule named = Schedules.named(parallel.schedule());
        return parallel.splitCoolDown() ? new SplitCoolDown(named) : named;
    }

    private static DataType parameterType(TrainingSpec training) {
        return switch (training.precision()) {
            case FLOAT32, BFLOAT16 -> DataType.FLOAT32;
            case FLOAT64 -> DataType.FLOAT64;
        };
    }

    private static DataType computeType(TrainingSpec training) {
        return switch (training.precision()) {
            case FLOAT32 -> DataType.FLOAT32;
            case BFLOAT16 -> DataType.BFLOAT16;
            case FLOAT64 -> DataType.FLOAT64;
        };
    }

    private static Optimizer optimizer(OptimizerSpec spec) {
        return switch (spec.kind()) {
            case ADAMW -> new Optimizer.AdamW(spec.betas().first(), spec.betas().second(), spec.epsilon(),
                    spec.weightDecay());
            case SGD -> new Optimizer.Sgd(spec.weightDecay());
        };
    }

    private static DropoutSettings dropout(TrainingSpec training, EngineChoice engine) {
        if (training.dropout() > 0 && !engine.provider().dropsOut()) {
            throw new UsageException("training.dropout = " + training.dropout() + ", but the engine "
                    + engine.provider().kind()
                    + " cannot drop out: set engine.kind = cpu, or training.dropout = 0");
        }
        return new DropoutSettings(training.dropout(), training.seed());
    }

    private static Recompute recompute(TrainingSpec.Recompute recompute) {
        return switch (recompute) {
            case NONE -> Recompute.NONE;
            case SELECTIVE -> Recompute.SELECTIVE;
            case FULL -> Recompute.FULL;
        };
    }

    private static LearningRate learningRate(LearningRateSpec spec) {
        return switch (spec.schedule()) {
            case CONSTANT -> new LearningRate.Constant(spec.peak(), spec.warmupSteps());
            case COSINE ->
                new LearningRate.Cosine(spec.peak(), spec.minimum(), spec.warmupSteps(), spec.decaySteps());
            case LINEAR ->
                new LearningRate.Linear(spec.peak(), spec.minimum(), spec.warmupSteps(), spec.decaySteps());
            case WSD -> new LearningRate.Wsd(spec.peak(), spec.minimum(), spec.warmupSteps(), spec.stableSteps(),
                    spec.decaySteps());
        };
    }

    public RunRequest request() {
        return request;
    }

    public RunSpec spec() {
        return request.spec();
    }

    public ModelConfig model() {
        return start.model();
    }

    public EngineChoice engine() {
        return engine;
    }

    public TrainingPlan plan() {
        return plan;
    }

    /** What the ranks of this process compute when: of the newest steps, if the request asks for no more. */
    public ActionTrace trace() {
        return trace;
    }

    /** How long each stage should compute, as against the others. */
    public StragglerWatch.Expectation expectation() {
        return expectation;
    }

    /** What the run takes in memory. */
    public MemoryPlan memory() {
        return memory;
    }

    /** The type of what stages hand on to each other. */
    DataType boundaryType() {
        return computeType(spec().training());
    }

    /** What the run learns from and is measured on. */
    public RunData data() {
        return data;
    }

    public Batches batches() {
        return data.batches();
    }

    /** What the validation loss is measured on; empty where none is measured. */
    public Optional<ValidationBatches> validation() {
        return data.validation();
    }

    /** The weights the run starts from, and from a checkpoint the optimizer's state. */
    public WeightSource weights() {
        return start.weights();
    }

    /** Whether the run goes on from a checkpoint. */
    public boolean resumes() {
        return start.resumed();
    }

    /** What is wrong with each of the newer checkpoints that were not taken, the newest first. */
    public List<String> passedOver() {
        return start.passedOver();
    }

    /** Whether a run ended in its directory before its first checkpoint, in whose place it begins. */
    public boolean beginsAgain() {
        return beginsAgain;
    }

    /**
     * How many steps lie behind each checkpoint of the run's directory that was there when it went on, damaged or not.
     * Those of a run from the beginning are all its own, even where this process comes late.
     */
    public Set<Long> checkpointsFound() {
        return checkpointsFound;
    }

    /** Steps that lie behind. */
    public long stepsDone() {
        return start.stepsDone();
    }

    /** The tokenizer that turns samples back into text; empty where the data are bare tokens. */
    public Optional<Tokenizer> tokenizer() {
        return data.isText()
                ? Optional.of(Tokenizer.named(spec().data().tokenizer().word()))
                : Optional.empty();
    }

    /** What the tensors of a checkpoint take, whatever the layout: each weight once, and what the optimizer keeps of it. */
    public long checkpointBytes() {
        return weightCount() * engine.settings().parameterType().elementBytes()
                * (1 + plan.stageSettings().optimizer().momentCount());
    }

    private long weightCount() {
        return ModelTensors.of(model()).values().stream().mapToLong(Shape::elementCount).sum();
    }

    /** Whether the run ends with weights that mean something; an experiment or an emulation leaves none. */
    public boolean leavesWeights() {
        return engine.provider().computes() && request.trace().isEmpty();
    }

    /** What the coordinator is to do. */
    public RunSettings settings() {
        TrainingSpec training = spec().training();
        return new RunSettings(plan.rankCount(), start.stepsDone(), training.steps(),
                learningRate(training.learningRate())::at, training.gradientClip(),
                lossScale(training.lossScale(), start.lossScale()),
                validation().isPresent() ? training.validateEvery() : 0,
                leavesWeights() ? training.checkpointEvery() : 0,
                request.continuesInPlace() ? start.stepsDone() : -1, leavesWeights(), plan.places(),
                recovers() ? spec().recovery().mostPerStep() : 0);
    }

    /** How old the last checkpoint may become; zero for as old as it likes. */
    public Duration checkpointInterval() {
        return leavesWeights() ? spec().training().checkpointInterval() : Duration.ZERO;
    }

    /** Whether a rank that fails is started again; an experiment measures the run without what that takes. */
    public boolean recovers() {
        return leavesWeights() && spec().recovery().enabled();
    }

    /** How often a rank keeps its state: once more where checkpoints are written beside training. */
    private int snapshots() {
        boolean isPinned = spec().training().checkpointEvery() > 0 || !spec().training().checkpointInterval().isZero();
        int copies = isPinned ? Snapshots.COPIES_WHERE_PINNED : Snapshots.COPIES;
        return recovers() ? copies : 0;
    }

    /** Whether nodes have copies of each other's snapshots. */
    public boolean keepsCopies() {
        return recovers() && request.share().isPresent()
                && spec().cluster().filter(cluster -> cluster.nodes().size() > 1).isPresent();
    }

    /** Ranks whose snapshots are copied to another machine; on one machine nodes look at each other's memory. */
    private List<Integer> copied() {
        return keepsCopies() ? Buddies.ranksCopied(spec().cluster().orElseThrow()) : List.of();
    }

    /** Whether a node without ranks warms up what it may take over: the machine has room for another rank. */
    public boolean warmsUp() {
        return keepsCopies() && spec().recovery().warmStandby() && hasRoomToWarmUp;
    }

    /** A scale that adapts goes on as the checkpoint has it; any other is what the configuration says now. */
    private static LossScale lossScale(LossScaleSpec spec, LossScale saved) {
        return switch (spec.kind()) {
            case NONE -> LossScale.none(saved.updates());
            case FIXED -> LossScale.fixed(spec.factor(), saved.updates());
            case DYNAMIC -> saved.rule() == LossScale.Rule.DYNAMIC ? saved : LossScale.dynamic(saved.updates());
        };
    }

    @Override
    public void close() {
        for (AutoCloseable file : files) {
            try {
                file.close();
            } catch (Exception failure) {
                throw new IllegalStateException("closing a file that was only read cannot fail", failure);
            }
        }
    }
}
