package dev.troupe.look.compare;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.update.LearningRateSpec;
import dev.troupe.look.figure.StepTime;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.memory.MachineMemory;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.prepare.SizedRun;
import dev.troupe.schedule.timeline.Timeline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The comparison of schedules on one model, one corpus and one seed. All runs exist at the same time and alternate step by
 * step. After the warm-up, every other step supplies the costs for the simulation (the engine {@code emulated} has
 * configured ones). The steps between them are measured, so both are of the same minutes. Thread rule: one thread.
 */
public final class Comparison {
    private static final long GIB = 1L << 30;
    static final int WARM_UP_STEPS = 3;
    /**
     * Largest deviation of losses if gradients were added in another order. In bfloat16 a difference in the last bits may be
     * rounded to either of two neighbours, 2^-8 apart.
     */
    private static final double FLOAT32_TOLERANCE = 1e-4;
    private static final double BFLOAT16_TOLERANCE = 0x1p-8;
    private static final double FLOAT64_TOLERANCE = 1e-9;

    private final RunSpec base;
    private final byte[] builtInCorpus;
    private final Path directory;
    private final int repeats;
    private final Consumer<String> progress;

    /**
     * @param base the run; its schedule and virtual stages are replaced by each contestant's
     * @param builtInCorpus text to train on if the run names none
     * @param directory the parent of the runs' temporary directories
     * @param repeats runs of each schedule, at least 1
     * @param steps measured steps of each run, at least 1; the same number of others are done between them
     * @param progress receives a line for each part of the work
     */
    public Comparison(RunSpec base, byte[] builtInCorpus, Path directory, int repeats, int steps,
            Consumer<String> progress) {
        this.base = measured(base, 2 * steps);
        this.builtInCorpus = builtInCorpus;
        this.directory = directory;
        this.repeats = repeats;
        this.progress = progress;
    }

    /**
     * Checks that every contestant can run, and that all fit the memory of this machine; runs none.
     *
     * @throws RuntimeException with a sentence for the user if one cannot: see {@link UserErrors}
     */
    public void check(List<Contestant> contestants) {
        long bytes = 0;
        boolean computes;
        long available = MachineMemory.availableBytes();
        try (OpenedRun opened = OpenedRun.of(new RunRequest(specOf(contestants.getFirst()), builtInCorpus, directory,
                Optional.empty(), OptionalLong.empty()))) {
            computes = opened.whole().choice().computes();
            for (Contestant contestant : contestants) {
                SizedRun sized = SizedRun.of(PlannedRun.of(opened.with(specOf(contestant))));
                sized.requireRoom(available);
                bytes = Math.addExact(bytes, sized.memory().total());
            }
        }
        if (computes && bytes > available) {
            throw new UsageException(String.format(Locale.ROOT,
                    "%d schedules alternate step by step and need %.1f GiB together, but this machine has %.1f GiB free:"
                            + " compare fewer at once, or take a smaller model",
                    contestants.size(), bytes / (double) GIB, available / (double) GIB));
        }
    }

    /**
     * Runs the comparison.
     *
     * @throws ComparisonException if a run fails, or two schedules do not have the same losses
     */
    public List<ScheduleOutcome> run(List<Contestant> contestants) throws InterruptedException {
        List<List<TracedRun>> rounds = new ArrayList<>();
        for (int round = 0; round < repeats; round++) {
            progress.accept("measuring " + contestants.stream().map(Contestant::label).collect(Collectors.joining("; "))
                    + " alternately, run " + (round + 1) + " of " + repeats);
            rounds.add(new SideBySide(contestants.stream().map(this::specOf).toList(), builtInCorpus, directory).run());
        }
        List<Double> expected = rounds.getFirst().getFirst().losses();
        return IntStream.range(0, contestants.size())
                .mapToObj(
                        index -> outcome(contestants.get(index), rounds.stream().map(runs -> runs.get(index)).toList(),
                                expected))
                .toList();
    }

    private RunSpec specOf(Contestant contestant) {
        return base.with(Map.of("parallel.schedule", contestant.schedule(), "parallel.virtual-stages",
                contestant.virtualStages()));
    }

    /** Returns the run with a warm-up and measured steps, without checkpoints, validation, observers and faults. */
    static RunSpec measured(RunSpec run, int steps) {
        return run.with(Map.of("training.steps", WARM_UP_STEPS + steps, "training.checkpoint-every", 0,
                "training.checkpoint-interval", Duration.ZERO, "training.validate-every", 0,
                "training.learning-rate.decay-steps", endOfDecay(run.training().update().learningRate()),
                "parallel.flush-every", 0, "parallel.updates", "lazy", "parallel.warm-up", 1, "parallel.replicas",
                List.of(), "faults", List.of())).unobserved();
    }

    /** Returns an explicit end of the decay: it must not be before the begin of the decay, even if the run ends earlier. */
    private static int endOfDecay(LearningRateSpec rate) {
        int begin = rate.schedule() == LearningRateSpec.Schedule.WSD ? rate.stableSteps() : rate.warmupSteps();
        return Math.max(rate.decaySteps(), begin);
    }

    private ScheduleOutcome outcome(Contestant contestant, List<TracedRun> runs, List<Double> expected) {
        List<TracedRun> calibrations = runs.stream().map(run -> run.only(Comparison::isOfCosts)).toList();
        List<TracedRun> measuredRuns = runs.stream().map(run -> run.only(Comparison::isMeasured)).toList();
        List<Timeline> timelines = measuredRuns.stream()
                .flatMap(run -> run.timelines(contestant.label() + ", measured").stream()).toList();
        List<Double> seconds = measuredRuns.stream().flatMap(run -> run.seconds().stream()).toList();
        StepTime stepTime = StepTime.of(seconds);
        Timeline typical = timelines.get(IntStream.range(0, seconds.size()).boxed()
                .min((left, right) -> Double.compare(Math.abs(seconds.get(left) - stepTime.medianSeconds()),
                        Math.abs(seconds.get(right) - stepTime.medianSeconds())))
                .orElseThrow());
        TracedRun first = runs.getFirst();
        Figures measured = new Figures(stepTime.medianSeconds(), median(timelines, Timeline::bubbleOverIdeal),
                median(timelines, Timeline::bubbleOverTotal), peakActivations(typical),
                Math.round(median(timelines, first::peakBytesInFlight)));
        return new ScheduleOutcome(contestant, first.engine().provider().kind(),
                Prediction.of(contestant.label() + ", predicted", calibrations), measured, stepTime, seconds,
                control(measuredRuns), first.losses(), agreement(contestant, runs, expected), typical);
    }

    private static boolean isOfCosts(int step) {
        return step >= WARM_UP_STEPS && (step - WARM_UP_STEPS) % 2 == 0;
    }

    private static boolean isMeasured(int step) {
        return step >= WARM_UP_STEPS && !isOfCosts(step);
    }

    private static ControlTime control(List<TracedRun> runs) {
        return ControlTime.of(runs.stream().flatMap(run -> run.steps().stream())
                .flatMap(step -> step.controlNanos().stream()).toList());
    }

    private static int peakActivations(Timeline timeline) {
        return IntStream.range(0, timeline.rankCount()).map(timeline::peakActivations).max().orElse(0);
    }

    private static double median(List<Timeline> timelines, ToDoubleFunction<Timeline> figure) {
        return StepTime.median(timelines.stream().map(figure::applyAsDouble).toList());
    }

    private String agreement(Contestant contestant, List<TracedRun> runs, List<Double> expected) {
        if (!runs.getFirst().engine().computes()) {
            return "nothing computed";
        }
        double tolerance = switch (base.training().precision()) {
            case FLOAT32 -> FLOAT32_TOLERANCE;
            case BFLOAT16 -> BFLOAT16_TOLERANCE;
            case FLOAT64 -> FLOAT64_TOLERANCE;
        };
        return Agreement.of(contestant.label(), runs.stream().map(TracedRun::losses).toList(), expected, tolerance);
    }
}
