package dev.troupe.plan.prepare;

import dev.troupe.batch.Batches;
import dev.troupe.batch.MicrobatchRows;
import dev.troupe.batch.ValidationBatches;
import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.CommitSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.DiskRoom;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.memory.MachineMemory;
import dev.troupe.plan.memory.MemoryPlan;
import dev.troupe.stage.StageSettings;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.transport.NamedMessages;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A run that is ready to start: it is planned, and its memory, directory and disk were checked. Nothing is written yet.
 * Thread rule: any thread may read it; close it when the run is over.
 */
public final class PreparedRun implements AutoCloseable {
    private final SizedRun sized;
    private final boolean beginsAgain;
    private final Set<Long> checkpointsFound;
    private final boolean hasRoomToWarmUp;
    private final NamedMessages faultyMessages = new NamedMessages();

    private PreparedRun(SizedRun sized, boolean beginsAgain) {
        this.sized = sized;
        this.beginsAgain = beginsAgain;
        RunRequest request = request();
        this.checkpointsFound = request.continuesInPlace()
                ? Checkpoint.steps(request.output()).boxed().collect(Collectors.toUnmodifiableSet())
                : Set.of();
        long availableBytes = MachineMemory.availableBytes();
        sized.requireRoom(availableBytes);
        requireDisk();
        this.hasRoomToWarmUp = sized.onThisMachine().total() + memory().largestAtHome() <= availableBytes;
    }

    /**
     * Prepares a request in all stages.
     *
     * @throws RuntimeException with a sentence for the user if the request is wrong: see {@link UserErrors}
     */
    public static PreparedRun of(RunRequest request) {
        // A directory in use is refused before a large model or corpus is read.
        boolean beginsAgain = request.leads() && !request.continuesInPlace()
                && RunDirectory.requireBeginnable(request.output());
        OpenedRun opened = OpenedRun.of(request);
        try {
            return new PreparedRun(SizedRun.of(PlannedRun.of(opened)), beginsAgain);
        } catch (RuntimeException refused) {
            opened.close();
            throw refused;
        }
    }

    /** Checks that the run's checkpoints and model fit the file system of its directory. */
    private void requireDisk() {
        if (planned().leavesWeights() && request().leads()) {
            CommitSpec commits = spec().training().commits();
            new DiskRoom(planned().checkpointBytes(), model().trainedCount() * Float.BYTES).require(
                    request().output(), commits.keepCheckpoints(), checkpointsFound.size(),
                    commits.checkpointEvery() > 0);
        }
    }

    /** Returns the stage of preparation with the plan. */
    public PlannedRun planned() {
        return sized.planned();
    }

    private OpenedRun opened() {
        return planned().opened();
    }

    public RunRequest request() {
        return opened().request();
    }

    public RunSpec spec() {
        return request().spec();
    }

    /** Returns the first weights; from a checkpoint also the progress of its run. */
    public StartingPoint start() {
        return opened().whole().start();
    }

    public ModelSpec model() {
        return start().model();
    }

    public long stepsDone() {
        return start().stepsDone();
    }

    public EngineChoice engine() {
        return planned().engine();
    }

    public TrainingPlan plan() {
        return planned().plan();
    }

    public MemoryPlan memory() {
        return sized.memory();
    }

    public RunData data() {
        return opened().data();
    }

    public Batches batches() {
        return opened().batches();
    }

    /** Returns the tokens of the run's first microbatch, as text. */
    public String firstMicrobatch() {
        StageSettings settings = plan().stageSettings();
        MicrobatchRows rows = new MicrobatchRows(settings.rows(), settings.separatesDocuments());
        batches().fillMicrobatch(0, 0, settings.microbatchSize(), rows);
        return rows.toString();
    }

    /** Returns the batches of the validation loss; empty if it is not measured. */
    public Optional<ValidationBatches> validation() {
        return opened().validation();
    }

    /** Returns the tokenizer that decodes samples; empty if the data are only tokens. */
    public Optional<Tokenizer> tokenizer() {
        return opened().tokenizer();
    }

    /** Returns the steps between two validations; 0 if the validation loss is not measured. */
    public int validateEvery() {
        return opened().validateEvery();
    }

    /** Whether the run replaces one in its directory that ended before its first checkpoint. */
    public boolean beginsAgain() {
        return beginsAgain;
    }

    /**
     * Returns the steps of each checkpoint that was in the run's directory when the run was resumed, damaged ones included.
     * A run from the beginning has none, since all checkpoints are its own, even if this process joins late.
     */
    public Set<Long> checkpointsFound() {
        return checkpointsFound;
    }

    /** Returns whether a standby warms up: if it is configured, and the machine has room for another rank. */
    public boolean warmsUp() {
        return planned().keepsCopies() && spec().recovery().warmStandby() && hasRoomToWarmUp;
    }

    /** Returns the messages that the transport must lose or damage for the run's faults. */
    public NamedMessages faultyMessages() {
        return faultyMessages;
    }

    @Override
    public void close() {
        opened().close();
    }
}
