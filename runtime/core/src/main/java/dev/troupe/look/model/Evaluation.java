package dev.troupe.look.model;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.batch.SequenceLengths;
import dev.troupe.batch.Sequences;
import dev.troupe.config.RunSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.generate.Evaluator;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.RunData;
import dev.troupe.plan.prepare.WholeModel;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model, data and an engine after all checks, to measure the model's loss over the data. Schedule and grid of the
 * configuration are not used, and nothing is written. Thread rule: one thread; close it at the end.
 */
public final class Evaluation implements AutoCloseable {
    private final WholeModel whole;
    private final RunData data;

    /**
     * The loss over some sequences.
     *
     * @param loss the mean cross-entropy of these targets
     */
    public record Result(long sequences, long targets, double loss) {
        public double perplexity() {
            return Math.exp(loss);
        }
    }

    /**
     * Opens and checks all parts.
     *
     * @param from the run or checkpoint that has the weights; empty: the weights with which a run of the configuration
     *     begins
     * @throws RuntimeException with a sentence for the user if the request is wrong: see {@link UserErrors}
     */
    public Evaluation(RunSpec spec, Optional<Path> from) {
        whole = WholeModel.of(spec, from);
        try {
            data = new RunData(spec.onAllData().data(), whole.tokenizer(), BuiltInCorpus.utf8(), Optional.empty(),
                    whole.start());
        } catch (RuntimeException refused) {
            whole.close();
            throw refused;
        }
        try {
            whole.requireRoom(sizes -> {
                try (Evaluator evaluator = evaluator(sizes)) {
                    evaluator.lossOf(rows());
                    return sizes.allocatedBytes();
                }
            });
        } catch (RuntimeException refused) {
            close();
            throw refused;
        }
    }

    private Evaluator evaluator(Engine engine) {
        return new Evaluator(engine, model(), whole.start().weights(), sequenceLength());
    }

    private int sequenceLength() {
        return whole.start().sequenceLength();
    }

    private MicrobatchRows rows() {
        return new MicrobatchRows(sequenceLength(), data.separatesDocuments());
    }

    public ModelSpec model() {
        return whole.start().model();
    }

    public RunData data() {
        return data;
    }

    /**
     * Measures the loss over the first sequences of the data without overlap.
     *
     * @param most maximum number of sequences
     * @param logits the safetensors file for the logits of the first sequence, with that name
     */
    public Result measure(long most, Optional<Path> logits) {
        Sequences sequences = data.sequences();
        long count = Math.min(most, sequences.windowCount());
        MicrobatchRows rows = rows();
        SequenceLengths lengths = SequenceLengths.of(sequenceLength(), 1);
        double sum = 0;
        long targets = 0;
        try (Engine engine = whole.choice().open(); Evaluator evaluator = evaluator(engine)) {
            for (long window = 0; window < count; window++) {
                long position = sequences.positionOf(window);
                if (window == 0 && logits.isPresent()) {
                    fill(sequences, position, sequenceLength(), rows);
                    write(logits.get(), evaluator, rows);
                }
                fill(sequences, position, lengths.holding(sequences.tokenCount(position)), rows);
                sum += evaluator.lossOf(rows);
                targets += sequences.countedTargets(position);
            }
        }
        return new Result(count, targets, sum / targets);
    }

    private static void fill(Sequences sequences, long position, int length, MicrobatchRows rows) {
        rows.setTokenCount(length);
        sequences.fill(position, rows, 0, length);
    }

    private void write(Path file, Evaluator evaluator, MicrobatchRows rows) {
        Shape shape = Shape.of(sequenceLength(), model().size(Axis.VOCABULARY));
        DataType type = whole.choice().settings().parameterType();
        SafeTensorsWriter.write(file, Map.of(),
                List.of(new NamedTensor("logits", shape, type, target -> evaluator.logitsOf(rows, target))));
    }

    @Override
    public void close() {
        data.close();
        whole.close();
    }
}
