package dev.troupe.plan.prepare;

import dev.troupe.batch.Batches;
import dev.troupe.batch.ValidationBatches;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.Buddies;
import dev.troupe.config.spec.LearningRateSpec;
import dev.troupe.config.spec.ReplaySpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.Capability;
import dev.troupe.engine.provider.WorkCosts;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.optimizer.LearningRate;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.TensorSharing;
import dev.troupe.plan.ClusterLimits;
import dev.troupe.plan.EmulatedCosts;
import dev.troupe.plan.ExpectedTimes;
import dev.troupe.plan.FaultChecks;
import dev.troupe.plan.OptimizerChoice;
import dev.troupe.plan.RunSchedule;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.DiskRoom;
import dev.troupe.plan.checkpoint.RunCompanions;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.memory.AheadBudget;
import dev.troupe.plan.memory.MachineMemory;
import dev.troupe.plan.memory.MemoryPlan;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.replica.SnapshotSlots;
import dev.troupe.protocol.watch.StragglerWatch;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.rank.trace.Pauses;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.Replay;
import dev.troupe.stage.StageSettings;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.transport.NamedMessages;
import dev.troupe.weights.WeightSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A run after all checks that are possible before its start. Nothing is written yet.
 *
 * <p>Thread rule: any thread may read it; close it when the run is over.
 */
public final class PreparedRun implements AutoCloseable {
    private RunRequest request;
    private final EngineChoice engine;
    private final Tokenizer tokenizer;
    private final StartingPoint start;
    private final boolean beginsAgain;
    private final Set<Long> checkpointsFound;
    private final RunData data;
    private final TrainingPlan plan;
    private final List<String> dropped;
    private final StragglerWatch.Expectation expectation;
    private final MemoryPlan memory;
    private final boolean hasRoomToWarmUp;
    private final Pauses pauses = new Pauses();
    private final NamedMessages faultyMessages = new NamedMessages();
    private final List<AutoCloseable> files = new ArrayList<>();

    /**
     * Opens and checks all parts of a request.
     *
     * @throws RuntimeException with a sentence for the user if the request is wrong: see {@link UserErrors}
     */
    public PreparedRun(RunRequest request) {
        try {
            request.resume().filter(from -> !Checkpoint.isAt(from)).ifPresent(RunDirectory::requireResumable);
            this.beginsAgain = request.leads() && !request.continuesInPlace()
                    && RunDirectory.requireBeginnable(request.output());
            EngineChoice choice = request.engine();
            this.request = request.with(choice);
            RunSpec spec = spec();
            this.tokenizer = Tokenizer.named(spec.data().tokenizer(), spec.data().specialTokens());
            this.start = StartingPoint.of(spec, tokenizer, request.resume());
            files.addAll(start.files());
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
            ClusterLimits.require(spec, start.model());
            TensorSharing.refusal(start.model(),
                    Math.multiplyExact(spec.training().microbatchSize(), start.sequenceLength()),
                    spec.parallel().tensor(), spec.parallel().sequence()).ifPresent(refusal -> {
                        throw new UsageException(refusal);
                    });
            this.data = new RunData(spec, tokenizer, request.builtInCorpus(), request.text(), start);
            files.add(data);
            RunCompanions.of(spec, model(), tokenizer(), request.resume()); // refuses one that is too large
            ReplaySpec replay = spec.training().memory().replay();
            var schedule = new RunSchedule(start.stepsDone(), spec.training().steps(), validateEvery(),
                    spec.training().commits().checkpointEvery()).of(spec.parallel(), spec.microbatchCount(),
                            spec.training(), !start.model().sharedInTraining().isEmpty());
            this.request = this.request.cut(choice, start.model(), start.sequenceLength(), schedule);
            TrainingPlan planned = TrainingPlan.of(start.model(),
                    new StageSettings(spec.training().microbatchSize(), start.sequenceLength(),
                            spec.parallel().data() * spec.microbatchCount(),
                            OptimizerChoice.of(spec, start.model()),
                            Recompute.valueOf(spec.training().memory().recompute().name()),
                            dropout(spec.training(), choice), data.separatesDocuments())
                            .with(new Replay(replay.every(), replay.aheadBlocks()))
                            .roundingGradients(spec.training().update().roundsGradients()),
                    spec().parallel().layout(), schedule,
                    spec.parallel().ranks(),
                    spec.parallel().sequence(), Zero.of(spec.training().memory().zero()),
                    spec.parallel().virtualStages(), validation().map(ValidationBatches::microbatchCount).orElse(1),
                    spec.transport().credits());
            this.plan = AheadBudget.fit(planned, replay.aheadBytes(),
                    () -> choice.withCosts(EmulatedCosts.of(spec.engine().emulated(), planned)).open());
            this.dropped = start.check(plan, spec.training());
            new FaultChecks(plan, start.stepsDone(), spec.training().steps(),
                    spec.training().commits().checkpointEvery(),
                    spec.recovery().enabled(), request.share().isPresent()).require(spec.faults());
            WorkCosts costs = EmulatedCosts.of(spec.engine().emulated(), plan);
            this.engine = choice.withCosts(costs);
            this.expectation = new ExpectedTimes(choice.computes()
                    ? EmulatedCosts.ofOperations(plan)
                    : costs);
            try (Engine sizes = engine.open()) {
                this.memory = MemoryPlan.of(plan, sizes, validation().isPresent(), snapshots(), copied());
            }
            MemoryPlan here = memory.onMachine(request.ranksOfMachine(),
                    keepsCopies() ? request.ranksCopiedHere() : List.of());
            long availableBytes = MachineMemory.availableBytes();
            if (engine.computes()) {
                here.requireRoom(availableBytes);
            }
            requireDisk();
            this.hasRoomToWarmUp = here.total() + memory.largestAtHome() <= availableBytes;
        } catch (RuntimeException refused) {
            close();
            throw refused;
        }
    }

    /** Checks that the run's checkpoints and model fit the file system of its directory. */
    private void requireDisk() {
        if (leavesWeights() && request.leads()) {
            TrainingSpec training = spec().training();
            new DiskRoom(checkpointBytes(), model().trainedCount() * Float.BYTES).require(request.output(),
                    training.commits().keepCheckpoints(), checkpointsFound.size(),
                    training.commits().checkpointEvery() > 0);
        }
    }

    /**
     * Refuses an earlier checkpoint than the newest, so that the newest checkpoint is always from the run that wrote last.
     */
    private void requireNoLaterCheckpoint() {
        if (!request.continuesInPlace() || !Checkpoint.isAt(request.resume().orElseThrow())) {
            return; // from a run's directory only damaged checkpoints are passed over
        }
        OptionalLong newest = Checkpoint.newestSteps(request.output());
        if (newest.isPresent() && newest.getAsLong() > start.stepsDone()) {
            throw new UsageException(
                    "the run in " + request.output() + " has a checkpoint after " + newest.getAsLong()
                            + " steps already, but is to resume from the one after " + start.stepsDone()
                            + ": choose another directory with --out, or move the later checkpoints away");
        }
    }

    static DataType parameterType(TrainingSpec training) {
        return switch (training.precision()) {
            case FLOAT32, BFLOAT16 -> DataType.FLOAT32;
            case FLOAT64 -> DataType.FLOAT64;
        };
    }

    static DataType computeType(TrainingSpec training) {
        return switch (training.precision()) {
            case FLOAT32 -> DataType.FLOAT32;
            case BFLOAT16 -> DataType.BFLOAT16;
            case FLOAT64 -> DataType.FLOAT64;
        };
    }

    private static DropoutSettings dropout(TrainingSpec training, EngineChoice engine) {
        requireDropout("training.dropout", training.dropout(), engine);
        requireDropout("training.lora.dropout", training.lora().dropout(), engine);
        return new DropoutSettings(training.dropout(), training.lora().dropout(), training.seed());
    }

    private static void requireDropout(String key, double probability, EngineChoice engine) {
        if (probability > 0) {
            engine.provider().obstacle(Capability.DROPOUT).ifPresent(sentence -> {
                throw new UsageException(key + " = " + probability + ", but " + sentence);
            });
        }
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

    public ModelSpec model() {
        return start.model();
    }

    public EngineChoice engine() {
        return engine;
    }

    public TrainingPlan plan() {
        return plan;
    }

    /** Returns the pauses of this process, from the first call on. */
    public Pauses pauses() {
        return pauses.watched();
    }

    /** Returns the messages that the run's faults lose or damage on their way, which the transport asks for. */
    public NamedMessages faultyMessages() {
        return faultyMessages;
    }

    /** Returns the expected share of each stage in the computing. */
    public StragglerWatch.Expectation expectation() {
        return expectation;
    }

    public MemoryPlan memory() {
        return memory;
    }

    DataType boundaryType() {
        return computeType(spec().training());
    }

    /** Returns the training and validation data. */
    public RunData data() {
        return data;
    }

    public Batches batches() {
        return data.batches();
    }

    /** Returns the batches of the validation loss; empty if it is not measured. */
    public Optional<ValidationBatches> validation() {
        return data.validation();
    }

    /** Returns the first weights, and from a checkpoint the optimizer's state. */
    public WeightSource weights() {
        return start.weights();
    }

    /** Returns the identity of the first weights, which nodes of a cluster must have in common. */
    public String firstWeights() {
        return start.identity();
    }

    public boolean resumes() {
        return start.resumed();
    }

    /** Returns the damage of each newer checkpoint that was not taken, the newest first. */
    public List<String> passedOver() {
        return start.passedOver();
    }

    /** Returns a sentence on each kind of state of its checkpoint that the run drops. */
    public List<String> dropped() {
        return dropped;
    }

    /** Whether the run begins in place of one that ended in its directory before its first checkpoint. */
    public boolean beginsAgain() {
        return beginsAgain;
    }

    /**
     * Returns the steps of each checkpoint that was in the run's directory when it was resumed, damaged or not. For a
     * run from the beginning there are none, since all checkpoints are its own, even where this process comes late.
     */
    public Set<Long> checkpointsFound() {
        return checkpointsFound;
    }

    public long stepsDone() {
        return start.stepsDone();
    }

    /** Returns the tokenizer that turns samples into text; empty if the data are bare tokens. */
    public Optional<Tokenizer> tokenizer() {
        return data.isText() ? Optional.of(tokenizer) : Optional.empty();
    }

    /** Returns the bytes of a checkpoint's tensors under any layout: each weight, its versions, its optimizer state. */
    public long checkpointBytes() {
        Optimizer optimizer = plan.stageSettings().optimizer();
        return engine.settings().parameterType().elementBytes()
                * (model().parameters().values().stream().filter(ParameterSpec::isTrained).mapToLong(
                        parameter -> parameter.elementCount() * (1 + optimizer.moments(parameter).size())).sum()
                        + plan.olderWeightCount());
    }

    /** Whether the run ends with trained weights; an experiment or an emulation leaves none. */
    public boolean leavesWeights() {
        return engine.computes() && !request.isExperiment();
    }

    /** Returns the coordinator's settings. */
    public RunSettings settings() {
        TrainingSpec training = spec().training();
        return new RunSettings(plan.rankCount(), start.stepsDone(), training.steps(),
                learningRate(training.update().learningRate())::at, training.update().gradientClip(),
                ResumedState.lossScale(training.update().lossScale(), start.lossScale()), validateEvery(),
                leavesWeights() ? training.commits().checkpointEvery() : 0,
                request.continuesInPlace() ? start.stepsDone() : -1,
                leavesWeights(), plan.places(), recovers() ? spec().recovery().mostPerStep() : 0, plan.stepsPerPass(),
                plan.training().plan().stagesUpdateAlone());
    }

    private int validateEvery() {
        return validation().isPresent() ? spec().training().commits().validateEvery() : 0;
    }

    /** Returns the greatest age of the last checkpoint; zero for no limit. */
    public Duration checkpointInterval() {
        return leavesWeights() ? spec().training().commits().checkpointInterval() : Duration.ZERO;
    }

    /** Whether a rank that fails is started again; an experiment measures a run without the cost of recovery. */
    public boolean recovers() {
        return leavesWeights() && spec().recovery().enabled();
    }

    /** Returns the number of snapshots of a rank's state: one more where checkpoints are written during training. */
    private int snapshots() {
        boolean isPinned = spec().training().commits().checkpointEvery() > 0
                || !spec().training().commits().checkpointInterval().isZero();
        int copies = isPinned ? Snapshots.COPIES_WHERE_PINNED : SnapshotSlots.COUNT;
        return recovers() ? copies : 0;
    }

    /** Whether nodes have copies of each other's snapshots. */
    public boolean keepsCopies() {
        return recovers() && request.share().isPresent()
                && spec().cluster().filter(cluster -> cluster.nodes().size() > 1).isPresent();
    }

    /**
     * Returns the ranks with copies of their snapshots on another machine; on one machine nodes map each other's snapshots.
     */
    private List<Integer> copied() {
        return keepsCopies() ? Buddies.ranksCopied(spec().cluster().orElseThrow()) : List.of();
    }

    /** Returns whether a standby warms up, as configured and if the machine has room for another rank. */
    public boolean warmsUp() {
        return keepsCopies() && spec().recovery().warmStandby() && hasRoomToWarmUp;
    }

    @Override
    public void close() {
        pauses.close();
        StartingPoint.close(files);
    }
}
