package dev.troupe.bench;

import dev.troupe.bench.profile.HeapUse;
import dev.troupe.bench.profile.KernelTimes;
import dev.troupe.bench.profile.ProductRecording;
import dev.troupe.bench.profile.ProfilingEngineProvider;
import dev.troupe.bench.profile.ThreadTimes;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.StepResult;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.TransportOf;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.transport.Transport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/**
 * The measurements of a whole run of {@code troupe train}, from configuration to checkpoint, after its warm-up.
 *
 * @param losses of every step, the warm-up included
 * @param threads processor time of all those steps together
 * @param kernels cost of kernels in all those steps together; empty for an engine that does not measure them
 * @param productNanos the part of that time inside the engine's library of matrix products, by kernel; empty likewise
 * @param heap use of the heap in those steps
 */
public record MeasuredRun(List<Double> stepSeconds, List<Double> losses, ThreadTimes threads,
        List<KernelTimes.Total> kernels, Map<String, Long> productNanos, HeapUse heap) {
    private static final int CORPUS_BYTES = 1 << 20;
    private static final long CORPUS_SEED = 1;

    /** Returns the wall time of all steps together. */
    double totalSeconds() {
        return stepSeconds.stream().mapToDouble(Double::doubleValue).sum();
    }

    /**
     * Trains.
     *
     * @param warmupSteps the steps before the first measured one, at least 1, since the first step also fills pools and
     *         compiles
     * @param more further settings of {@code troupe train -s}
     * @throws IllegalStateException if the run fails, with its reason
     */
    public static MeasuredRun of(BenchmarkModel model, Arrangement arrangement, int warmupSteps, int steps,
            List<String> more)
            throws InterruptedException, IOException {
        List<String> settings = new ArrayList<>(model.settings());
        settings.addAll(arrangement.settings());
        settings.add("training.steps=" + (warmupSteps + steps));
        settings.addAll(more);
        RunSpec spec = RunSpecReader.read(Optional.empty(), settings);
        Path output = Files.createTempDirectory("troupe-bench");
        try {
            RunRequest request = new RunRequest(spec, corpus(), output, Optional.empty(), OptionalLong.empty());
            try (Watch watch = new Watch(warmupSteps, spec.engine().kind().equals(ProfilingEngineProvider.KIND));
                    PreparedRun run = PreparedRun.of(request);
                    Transport transport = TransportOf.run(run);
                    RunDirectory directory = RunDirectory.open(output)) {
                RunOutcome outcome = TrainingRun.start(run, directory, transport, TrainingRun.warmUp(run), watch)
                        .await();
                outcome.failure().ifPresent(reason -> {
                    throw new IllegalStateException(model.name() + ", " + arrangement + ": " + reason);
                });
                return watch.measured();
            }
        } finally {
            delete(output);
        }
    }

    /** Returns printable random bytes, since the speed of a step does not depend on the text. */
    public static byte[] corpus() {
        Random random = new Random(CORPUS_SEED);
        StringBuilder text = new StringBuilder(CORPUS_BYTES);
        for (int i = 0; i < CORPUS_BYTES; i++) {
            text.append((char) random.nextInt(' ', 127));
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    public static void delete(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path emptied, IOException failure) throws IOException {
                if (failure != null) {
                    throw failure;
                }
                Files.delete(emptied);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** The reader of clocks between steps, on the coordinator's thread before the next step starts. */
    private static final class Watch implements RunListener, AutoCloseable {
        private final int warmupSteps;
        private final boolean profiled;
        private final List<Double> seconds = new ArrayList<>();
        private final List<Double> losses = new ArrayList<>();
        private ThreadTimes begin;
        private ThreadTimes threads;
        private HeapUse heapAtBegin;
        private HeapUse heap;
        private List<KernelTimes.Total> kernels;
        // Null until the warm-up is over, and if kernels are not measured.
        private ProductRecording products;

        Watch(int warmupSteps, boolean profiled) {
            this.warmupSteps = warmupSteps;
            this.profiled = profiled;
        }

        /** On the main thread, when the run is over. */
        MeasuredRun measured() throws IOException {
            return new MeasuredRun(List.copyOf(seconds), List.copyOf(losses), threads, kernels,
                    products == null ? Map.of() : products.stop(), heap);
        }

        @Override
        public void on(RunNews news) {
            switch (news) {
                case RunNews.StepDone(StepResult result, double stepSeconds) -> add(result, stepSeconds);
                case RunNews.Validated _ ->
                    throw new IllegalStateException("a measured run measures no validation loss");
                case RunNews.CheckpointFailed _ ->
                    throw new IllegalStateException("a measured run has one checkpoint, at its end");
                default -> {
                    // not measured
                }
            }
        }

        private void add(StepResult result, double stepSeconds) {
            losses.add(result.loss());
            if (result.step() == warmupSteps - 1) {
                ProfilingEngineProvider.times().reset();
                products = profiled ? new ProductRecording() : null;
                heapAtBegin = HeapUse.now();
                begin = ThreadTimes.now();
            } else if (result.step() >= warmupSteps) {
                seconds.add(stepSeconds);
                threads = ThreadTimes.now().since(begin);
                heap = HeapUse.now().since(heapAtBegin);
                kernels = ProfilingEngineProvider.times().totals();
            }
        }

        @Override
        public void close() {
            if (products != null) {
                products.close();
            }
        }
    }
}
