package dev.troupe.look.output;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.protocol.ExpertMeasures;
import dev.troupe.protocol.StepResult;
import dev.troupe.rank.lines.JsonLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.function.Consumer;

/**
 * {@code metrics.jsonl}: one JSON object for each committed step, for each validation loss, and for each checkpoint that
 * could not be written. Each line is passed to the system at once.
 */
public final class MetricsLog implements AutoCloseable {
    public static final String FILE = "metrics.jsonl";

    private static final JsonMapper JSON = new JsonMapper();

    private final RetryingFile lines;
    private long nextStep;
    private long lastValidated;

    private MetricsLog(RetryingFile lines, long nextStep, long lastValidated) {
        this.lines = lines;
        this.nextStep = nextStep;
        this.lastValidated = lastValidated;
    }

    /**
     * Opens the file, drops lines of steps that will be repeated, and moves unreadable lines to a separate file.
     *
     * @param trouble receives a sentence on damaged lines, and if lines cannot be written
     */
    public static MetricsLog open(Path file, long stepsDone, Consumer<String> trouble) {
        try {
            StringBuilder kept = new StringBuilder();
            long nextStep = 0;
            long lastValidated = 0;
            MetricsLines read = MetricsLines.read(file);
            for (MetricsLines.Entry line : read.lines()) {
                if (line.stepsDone() <= stepsDone) {
                    kept.append(line.text()).append('\n');
                    nextStep = line.isOfStep() ? line.stepsDone() : nextStep;
                    lastValidated = Double.isNaN(line.validationLoss()) ? lastValidated : line.stepsDone();
                }
            }
            JsonLog.setAside(file, read.damaged(), kept.toString(), trouble);
            return new MetricsLog(
                    new RetryingFile(Files.newByteChannel(file, StandardOpenOption.WRITE), file.toString(), trouble),
                    nextStep, lastValidated);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Opens the file of a run after the loss of its coordinator, and keeps every whole line. */
    public static MetricsLog takeOver(Path file, Consumer<String> trouble) {
        return open(file, Long.MAX_VALUE, trouble);
    }

    /** Returns the loss of a step; empty if the step has no line. */
    public static OptionalDouble lossOf(Path file, long step) {
        return lines(file).stream().filter(line -> line.step() == step).mapToDouble(MetricsLines.Entry::loss)
                .findFirst();
    }

    /** Returns the last validation loss of the first {@code stepsDone} steps. */
    static OptionalDouble validationLoss(Path file, long stepsDone) {
        return lines(file).reversed().stream()
                .filter(line -> !Double.isNaN(line.validationLoss()) && line.stepsDone() <= stepsDone)
                .mapToDouble(MetricsLines.Entry::validationLoss).findFirst();
    }

    /** Returns the last step with a line; empty if there is none, or the file cannot be read. */
    public static OptionalLong lastStep(Path file) {
        return lines(file).stream().filter(MetricsLines.Entry::isOfStep).mapToLong(MetricsLines.Entry::step).max();
    }

    /** Returns the time of each step with a line, in seconds; an empty list if the file cannot be read. */
    public static List<Double> stepSeconds(Path file) {
        return lines(file).stream().map(MetricsLines.Entry::stepSeconds).filter(seconds -> !Double.isNaN(seconds))
                .toList();
    }

    private static List<MetricsLines.Entry> lines(Path file) {
        try {
            return MetricsLines.read(file).lines();
        } catch (IOException _) {
            return List.of(); // the end of a run lacks a number in a sentence
        }
    }

    /** Returns the first step without a line. */
    public long nextStep() {
        return nextStep;
    }

    /**
     * Writes the line of a step. It does nothing if the step has a line: a lost coordinator committed the step, and the next
     * coordinator committed it again.
     *
     * @param dataEpochs number of passes through the data, this step included
     */
    public void write(StepResult result, long tokens, double dataEpochs, double stepSeconds) {
        if (result.step() < nextStep) {
            return;
        }
        nextStep = result.step() + 1;
        ObjectNode line = JSON.createObjectNode().put("step", result.step()).put("loss", result.loss())
                .put("gradient_norm", result.skipped() ? null : (Double) result.gradientNorm())
                .put("learning_rate", result.learningRate()).put("tokens", tokens).put("step_seconds", stepSeconds);
        ObjectNode sent = line.putObject("bytes_sent").put("pipeline", result.traffic().pipeline())
                .put("tensor", result.traffic().tensor()).put("data", result.traffic().data());
        if (result.traffic().expert() > 0) {
            sent.put("expert", result.traffic().expert());
        }
        line.put("tokens_per_second", tokens / stepSeconds).put("data_epochs", dataEpochs)
                .put("loss_scale", result.lossScale()).put("skipped", result.skipped());
        experts(result.experts()).forEach(line::put);
        line.put("time_ms", System.currentTimeMillis());
        lines.addLine(line.toString());
    }

    /** Returns the numbers of experts by their names in a line; none for a model without experts. */
    static SequencedMap<String, Double> experts(ExpertMeasures measured) {
        SequencedMap<String, Double> numbers = new LinkedHashMap<>();
        numbers.put("auxiliary_loss", measured.auxiliaryLoss());
        numbers.put("router_z_loss", measured.routerZLoss());
        numbers.put("expert_entropy", measured.entropy());
        numbers.put("expert_highest_load", measured.highestLoad());
        numbers.put("expert_idle", measured.idle());
        numbers.put("expert_dropped", measured.dropped());
        numbers.values().removeIf(number -> number.isNaN());
        return numbers;
    }

    /**
     * Writes the validation loss of the weights after {@code stepsDone} steps. It does nothing if the loss has a line: a
     * lost coordinator wrote it, and the next coordinator measured the same bits.
     */
    public void writeValidated(long stepsDone, double loss) {
        if (stepsDone > lastValidated) {
            lastValidated = stepsDone;
            lines.addLine(JSON.createObjectNode().put("steps_done", stepsDone).put("validation_loss", loss).toString());
        }
    }

    public void writeCheckpointFailed(long stepsDone, String why) {
        lines.addLine(JSON.createObjectNode().put("steps_done", stepsDone).put("checkpoint_failed", why).toString());
    }

    @Override
    public void close() {
        lines.close();
    }
}
