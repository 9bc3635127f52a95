package dev.troupe.plan.prepare;

import dev.troupe.batch.Batches;
import dev.troupe.batch.ValidationBatches;
import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.partition.TensorSharing;
import dev.troupe.plan.ClusterLimits;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.RunCompanions;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.schedule.Schedule;
import dev.troupe.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The engine, the model and the data of a run, open and checked against its sizes; nothing is planned yet. The run's
 * directory is not checked. Thread rule: any thread may read it; close it when the run is over.
 *
 * @param request the request, with the chosen libraries of matrix products
 * @param whole the engine, the tokenizer and the weights
 * @param validation the batches of the validation loss; empty if it is not measured
 */
public record OpenedRun(RunRequest request, WholeModel whole, RunData data, Batches batches,
        Optional<ValidationBatches> validation) implements AutoCloseable {
    /** @throws RuntimeException with a sentence for the user if the request is wrong: see {@link UserErrors} */
    public static OpenedRun of(RunRequest asked) {
        WholeModel.requireResumable(asked.resume());
        EngineChoice choice = asked.engine();
        RunRequest chosen = asked.with(choice);
        List<AutoCloseable> files = new ArrayList<>();
        try {
            WholeModel whole = WholeModel.of(chosen.spec(), chosen.resume(), choice);
            files.add(whole);
            RunRequest request = settled(chosen, whole.start());
            RunSpec spec = request.spec();
            requireStep(request, whole.start());
            requireSizes(spec, whole.start());
            RunData data = new RunData(spec.data(), whole.tokenizer(), request.builtInCorpus(), request.text(),
                    whole.start());
            files.add(data);
            OpenedRun opened = inBatches(request, whole, data);
            RunCompanions.of(spec, opened.model(), opened.tokenizer(), request.resume()); // refuses one that is too large
            return opened;
        } catch (RuntimeException refused) {
            StartingPoint.close(files);
            throw refused;
        }
    }

    private static RunRequest settled(RunRequest request, StartingPoint start) {
        return RunSharding.settled(request, start.model(), start.sequenceLength());
    }

    private static OpenedRun inBatches(RunRequest request, WholeModel whole, RunData data) {
        return new OpenedRun(request, whole, data, data.batches(request.spec()), data.validation(request.spec()));
    }

    /**
     * Returns the same model and data for other values of {@code parallel}, {@code transport}, {@code recovery}, and the
     * sizes, schedule and memory of {@code training}. Both share the open files: close one of them.
     *
     * @throws IllegalArgumentException if the model, its first weights, the data or the precision are others
     * @throws UsageException if the model cannot be cut to the sizes
     */
    public OpenedRun with(RunSpec other) {
        TrainingSpec mine = spec().training();
        TrainingSpec its = other.training();
        if (!other.model().equals(spec().model()) || !other.data().equals(spec().data())
                || its.precision() != mine.precision() || its.seed() != mine.seed()
                || !its.lora().equals(mine.lora())) {
            throw new IllegalArgumentException("another model, other data or another precision are opened anew");
        }
        RunRequest asked = settled(request.with(other), whole.start());
        EngineChoice choice = asked.ranksOfMachine().equals(whole.choice().ranksOfMachine())
                ? whole.choice()
                : asked.engine(); // its threads are the cores by the ranks
        requireStep(asked, whole.start());
        requireSizes(asked.spec(), whole.start());
        return inBatches(asked.with(choice), new WholeModel(choice, whole.tokenizer(), whole.start()), data);
    }

    /** Returns the same run with the layout string of its stages, if they are cut by costs. */
    OpenedRun cut(Schedule schedule) {
        return new OpenedRun(request.cut(whole.choice(), model(), whole.start().sequenceLength(), schedule), whole,
                data, batches, validation);
    }

    /** Refuses a checkpoint from which no step remains, or that is not the newest of the run that it continues. */
    private static void requireStep(RunRequest request, StartingPoint start) {
        int steps = request.spec().training().steps();
        if (start.stepsDone() > steps) {
            throw new UsageException("the checkpoint lies " + start.stepsDone()
                    + " steps into its run, but training.steps = " + steps + ": raise it");
        }
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

    private static void requireSizes(RunSpec spec, StartingPoint start) {
        SizeChecks.require(spec, start.model(), start.sequenceLength());
        ClusterLimits.require(spec, start.model());
        requireExperts(spec.parallel().expert(), start.model());
        TensorSharing.refusal(start.model(),
                Math.multiplyExact(spec.training().microbatchSize(), start.sequenceLength()),
                spec.parallel().tensor(), RunSharding.executed(spec, start.model(), start.sequenceLength()),
                spec.training().memory().replay().partition())
                .ifPresent(refusal -> {
                    throw new UsageException(refusal);
                });
    }

    private static void requireExperts(int ranks, ModelSpec model) {
        if (ranks > 1 && !model.has(Axis.EXPERTS)) {
            throw new UsageException("parallel.expert = " + ranks
                    + " ranks divide the experts of a model, but one of the"
                    + " family " + model.family().name() + " has none: set parallel.expert to 1, or take a family with"
                    + " experts (docs/experts.md)");
        }
        if (ranks > 1 && model.size(Axis.EXPERTS) % ranks != 0) {
            throw new UsageException("parallel.expert = " + ranks + " ranks cannot divide the "
                    + model.size(Axis.EXPERTS)
                    + " experts of a block (model.experts) into equal shares: change one or the"
                    + " other");
        }
        if (ranks > 1 && model.balance().filter(one -> one.training().placesChoices()).isPresent()) {
            throw new UsageException("parallel.expert = " + ranks + " ranks exchange every choice of a token, but"
                    + " model.capacity-factor or model.random-second-expert drops some: set parallel.expert to 1, or"
                    + " leave those out");
        }
    }

    public RunSpec spec() {
        return request.spec();
    }

    public ModelSpec model() {
        return whole.start().model();
    }

    /** Returns the tokenizer that decodes samples; empty if the data are only tokens. */
    public Optional<Tokenizer> tokenizer() {
        return data.isText() ? Optional.of(whole.tokenizer()) : Optional.empty();
    }

    /** Returns the steps between two validations; 0 if the validation loss is not measured. */
    public int validateEvery() {
        return validation.isPresent() ? spec().training().commits().validateEvery() : 0;
    }

    @Override
    public void close() {
        StartingPoint.close(List.of(whole, data));
    }
}
