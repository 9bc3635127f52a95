package dev.troupe.look.output;

import dev.troupe.look.observe.Observation;
import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.protocol.StepResult;
import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.run.news.RunNews;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * {@code tensorboard/events.out.tfevents.*} in a run's directory: the scalars of each step for TensorBoard. The step of a
 * value is the number of updates that its weights have had: s for the loss of step s, n for the validation loss after n
 * steps.
 *
 * <p>Each process that leads the run has its own file. It begins with a mark by which readers drop the repeated steps of
 * earlier files. A record is written whole, or waits while the disk is full.
 */
final class TensorBoardLog implements Observation {
    static final String DIRECTORY = "tensorboard";

    private static final String PREFIX = "events.out.tfevents.";
    private static final int DIGITS = 10;

    private final RunFacts run;
    private final RetryingFile records;

    private TensorBoardLog(RunFacts run, RetryingFile records) {
        this.run = run;
        this.records = records;
        records.add(TensorBoardRecord.version(now()));
        records.add(TensorBoardRecord.start(now(), run.firstStep()));
    }

    /**
     * Opens the file of a process.
     *
     * @param trouble receives a sentence if records cannot be written
     */
    static TensorBoardLog open(Path directory, RunFacts run, Consumer<String> trouble) {
        try {
            Path folder = Files.createDirectories(directory.resolve(DIRECTORY));
            Path file = folder.resolve(PREFIX + String.format(Locale.ROOT, "%0" + DIGITS + "d", newest(folder)) + "."
                    + ProcessHandle.current().pid() + ".troupe");
            return new TensorBoardLog(run,
                    new RetryingFile(
                            Files.newByteChannel(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                            file.toString(), trouble));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Returns the seconds for a new name, later than in all other names, since readers sort the files by name. */
    private static long newest(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("\\Q" + PREFIX + "\\E[0-9]{" + DIGITS + "}\\..*"))
                    .mapToLong(name -> Long.parseLong(name.substring(PREFIX.length(), PREFIX.length() + DIGITS)) + 1)
                    .reduce(System.currentTimeMillis() / 1000, Math::max);
        }
    }

    /** Removes the files of another run from a directory. */
    static void clear(Path directory) throws IOException {
        Path folder = directory.resolve(DIRECTORY);
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.filter(file -> file.getFileName().toString().startsWith(PREFIX)).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static double now() {
        return System.currentTimeMillis() / 1e3;
    }

    private synchronized void write(long step, Map<String, Double> values) {
        records.add(TensorBoardRecord.scalars(now(), step, values));
    }

    @Override
    public void on(RunNews news) {
        switch (news) {
            case RunNews.StepDone(StepResult result, double seconds) -> write(result, seconds);
            case RunNews.Measured(MeasuredStep step) -> write(step);
            case RunNews.Validated(long stepsDone, double loss) -> write(stepsDone, Map.of("validation/loss", loss));
            default -> {
                // no scalar
            }
        }
    }

    private void write(StepResult result, double seconds) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("training/loss", result.loss());
        MetricsLog.experts(result.experts()).forEach((name, number) -> values.put("training/" + name, number));
        values.put("training/gradient_norm", result.gradientNorm());
        values.put("training/learning_rate", result.learningRate());
        values.put("speed/step_seconds", seconds);
        values.put("speed/tokens_per_second", run.tokensPerStep() / seconds);
        write(result.step(), values);
    }

    private void write(MeasuredStep step) {
        double all = (double) step.nanos() * step.times().ranks().size();
        Map<Cause, Long> idle = step.idle().byCause();
        Map<String, Double> values = new LinkedHashMap<>();
        for (Cause cause : Cause.values()) {
            values.put("idle_share/" + cause.code(), idle.getOrDefault(cause, 0L) / all);
        }
        write(step.number(), values);
    }

    @Override
    public synchronized void close() {
        records.close();
    }
}
