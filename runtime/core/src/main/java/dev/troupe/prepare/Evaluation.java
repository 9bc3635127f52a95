package dev.troupe.prepare;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.batch.Sequences;
import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.RunSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.structural.SizingEngine;
import dev.troupe.generate.Evaluator;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.plan.SizeChecks;
import dev.troupe.plan.UsageException;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A model, data and an engine after all checks, to measure the one on the other: what a configuration would train, with
 * nothing of its schedule and its grid. Nothing is written.
 *
 * <p>Thread rule: one thread; close it at the end.
 */
public final class Evaluation implements AutoCloseable {
    private final EngineChoice choice;
    private final StartingPoint start;
    private final RunData data;

    /**
     * The loss over some sequences.
     *
     * @param sequences
     *            how many were read
     * @param targets
     *            how many of their targets count
     * @param loss
     *            the mean cross-entropy of these
     */
    public record Result(long sequences, long targets, double loss) {
        /** The exponential of the loss. */
        public double perplexity() {
            return Math.exp(loss);
        }
    }

    /**
     * Opens and checks all parts.
     *
     * @param from
     *            the run or checkpoint that has the weights; empty: those that a run of the configuration begins with
     * @throws RuntimeException
     *             with a sentence for the user where the request is wrong: see {@link UserErrors}
     */
    public Evaluation(RunSpec spec, Optional<Path> from) {
        from.filter(path -> !Checkpoint.isAt(path)).ifPresent(RunDirectory::requireResumable);
        choice = EngineChoice.of(spec.engine(), PreparedRun.parameterType(spec.training()),
                PreparedRun.computeType(spec.training()), 1, EngineChoice.installed());
        if (!choice.computes()) {
            throw new UsageException("the engine " + choice.provider().kind()
                    + " computes nothing, so there is nothing to measure: choose another engine.kind");
        }
        Tokenizer tokenizer = Tokenizer.named(spec.data().tokenizer(), spec.data().specialTokens());
        start = StartingPoint.of(spec, tokenizer, from);
        try {
            SizeChecks.requireModel(start.model());
            data = new RunData(spec.onAllData(), tokenizer, BuiltInCorpus.utf8(), Optional.empty(), start.model(),
                    start.sequenceLength());
        } catch (RuntimeException refused) {
            start.close();
            throw refused;
        }
        try {
            requireRoom();
        } catch (RuntimeException refused) {
            close();
            throw refused;
        }
    }

    /** Counts the bytes of a forward on an engine that computes nothing. */
    private void requireRoom() {
        try (Engine real = choice.open();
                Engine sizes = SizingEngine.like(real);
                Evaluator evaluator = new Evaluator(sizes, start.model(), start.weights(), start.sequenceLength())) {
            evaluator.lossOf(rows());
            long available = MachineMemory.availableBytes();
            if (sizes.allocatedBytes() > available) {
                throw new UsageException(String.format(Locale.ROOT, "the model and one sequence take %,d MiB, but this"
                        + " machine has %,d MiB free: shorten model.sequence-length, or end what takes memory",
                        sizes.allocatedBytes() >> 20, available >> 20));
            }
        }
    }

    private MicrobatchRows rows() {
        return new MicrobatchRows(start.sequenceLength(), data.separatesDocuments());
    }

    /** Returns the model that is measured. */
    public ModelSpec model() {
        return start.model();
    }

    /** Returns the data that it is measured on. */
    public RunData data() {
        return data;
    }

    /**
     * Measures the loss over the first sequences of the data without overlap.
     *
     * @param most
     *            how many to read at most
     * @param logits
     *            the safetensors file that gets the logits of the first sequence, under that name
     */
    public Result measure(long most, Optional<Path> logits) {
        Sequences sequences = data.sequences();
        long count = Math.min(most, sequences.windowCount());
        MicrobatchRows rows = rows();
        double sum = 0;
        long targets = 0;
        try (Engine engine = choice.open();
                Evaluator evaluator = new Evaluator(engine, start.model(), start.weights(), start.sequenceLength())) {
            for (long window = 0; window < count; window++) {
                long position = sequences.positionOf(window);
                sequences.fill(position, rows, 0);
                if (window == 0) {
                    logits.ifPresent(file -> write(file, evaluator, rows));
                }
                sum += evaluator.lossOf(rows);
                targets += sequences.countedTargets(position);
            }
        }
        return new Result(count, targets, sum / targets);
    }

    private void write(Path file, Evaluator evaluator, MicrobatchRows rows) {
        Shape shape = Shape.of(start.sequenceLength(), start.model().size(Axis.VOCABULARY));
        DataType type = choice.settings().parameterType();
        SafeTensorsWriter.write(file, Map.of(),
                List.of(new NamedTensor("logits", shape, type, target -> evaluator.logitsOf(rows, target))));
    }

    @Override
    public void close() {
        data.close();
        start.close();
    }
}
