package dev.troupe.compare;

import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.prepare.RunRequest;
import dev.troupe.schedule.timeline.Timeline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Compares schedules on one model, one corpus and one seed. Each schedule is run a few times to read its costs off (the
 * engine {@code emulated} has configured ones), then several times, in turns, to be measured, and simulated with those
 * costs.
 *
 * <p>Thread rule: one thread.
 */
public final class Comparison {
    /** Steps of the warm-up, which no figure includes. */
    private static final int WARM_UP_STEPS = 3;
    /** One run may be disturbed; the middle one of three seldom is. */
    private static final int CALIBRATION_RUNS = 3;
    /**
     * Largest deviation of losses where gradients were added in another order: in float32, in float64, and in bfloat16,
     * where a difference in the last bits may be rounded to either of two neighbours, 2^-8 apart.
     */
    private static final double FLOAT32_TOLERANCE = 1e-4;
    private static final double BFLOAT16_TOLERANCE = 0x1p-8;
    private static final double FLOAT64_TOLERANCE = 1e-9;

    private final RunSpec base;
    private final byte[] builtInCorpus;
    private final Path directory;
    private final int repeats;
    private final int steps;
    private final Consumer<String> progress;

    /**
     * @param base
     *            the run; its schedule and virtual stages are replaced by each contestant's
     * @param builtInCorpus
     *            text to train on where the run names none
     * @param directory
     *            a directory in which each run has a directory of its own while it lasts
     * @param repeats
     *            measured runs of each schedule, at least 1
     * @param steps
     *            measured steps of each run, at least 1
     * @param progress
     *            receives a line for each part of the work
     */
    public Comparison(RunSpec base, byte[] builtInCorpus, Path directory, int repeats, int steps,
            Consumer<String> progress) {
        this.base = base;
        this.builtInCorpus = builtInCorpus;
        this.directory = directory;
        this.repeats = repeats;
        this.steps = steps;
        this.progress = progress;
    }

    /**
     * Checks that every contestant can run, without running any.
     *
     * @throws RuntimeException
     *             as {@link PreparedRun} throws them
     */
    public void check(List<Contestant> contestants) {
        contestants.forEach(contestant -> prepare(contestant).close());
    }

    private PreparedRun prepare(Contestant contestant) {
        return new PreparedRun(new RunRequest(specOf(contestant), builtInCorpus, directory.resolve("run"),
                Optional.empty(), OptionalLong.empty()));
    }

    /**
     * Runs the comparison.
     *
     * @throws ComparisonException
     *             where a run fails, or two schedules do not have the same losses
     */
    public List<Outcome> run(List<Contestant> contestants) throws InterruptedException {
        Map<Contestant, List<TracedRun>> calibrations = inTurns(contestants, "reading the costs off ",
                CALIBRATION_RUNS);
        Map<Contestant, List<TracedRun>> measured = inTurns(contestants, "measuring ", repeats);
        List<Double> expected = measured.get(contestants.getFirst()).getFirst().losses();
        List<Outcome> outcomes = new ArrayList<>();
        for (Contestant contestant : contestants) {
            outcomes.add(outcome(contestant, calibrations.get(contestant), measured.get(contestant), expected));
        }
        return outcomes;
    }

    private Map<Contestant, List<TracedRun>> inTurns(List<Contestant> contestants, String what, int rounds)
            throws InterruptedException {
        Map<Contestant, List<TracedRun>> runs = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (Contestant contestant : contestants) {
                progress.accept(what + contestant.label() + ", run " + (round + 1) + " of " + rounds);
                runs.computeIfAbsent(contestant, _ -> new ArrayList<>()).add(run(contestant));
            }
        }
        return runs;
    }

    private TracedRun run(Contestant contestant) throws InterruptedException {
        return TracedRun.of(specOf(contestant), builtInCorpus, directory.resolve("run"));
    }

    private RunSpec specOf(Contestant contestant) {
        ParallelSpec parallel = base.parallel();
        TrainingSpec training = base.training();
        return new RunSpec(base.name(), base.model(), base.data(),
                new TrainingSpec(WARM_UP_STEPS + steps, training.globalBatchSize(), training.microbatchSize(),
                        training.seed(), training.precision(), training.lossScale(), training.gradientClip(), 0,
                        Duration.ZERO, training.keepCheckpoints(), 0, training.validationMicrobatches(),
                        training.zero(),
                        training.recompute(), training.dropout(), training.lora(),
                        training.optimizer(),
                        training.learningRate()),
                new ParallelSpec(parallel.pipeline(), parallel.tensor(), parallel.data(), parallel.sequence(),
                        contestant.virtualStages(),
                        contestant.schedule(), parallel.layout(), parallel.splitCoolDown()),
                base.engine(), base.transport(), base.recovery(), base.cluster(), List.of());
    }

    private Outcome outcome(Contestant contestant, List<TracedRun> calibrations, List<TracedRun> runs,
            List<Double> expected) {
        List<Timeline> timelines = new ArrayList<>();
        List<Double> seconds = new ArrayList<>();
        for (TracedRun run : runs) {
            timelines.addAll(run.timelines(contestant.label() + ", measured", WARM_UP_STEPS));
            seconds.addAll(run.seconds().subList(WARM_UP_STEPS, WARM_UP_STEPS + steps));
        }
        StepTime stepTime = StepTime.of(seconds);
        Timeline typical = timelines.get(IntStream.range(0, seconds.size()).boxed()
                .min((left, right) -> Double.compare(Math.abs(seconds.get(left) - stepTime.medianSeconds()),
                        Math.abs(seconds.get(right) - stepTime.medianSeconds())))
                .orElseThrow());
        TracedRun first = runs.getFirst();
        Figures measured = new Figures(stepTime.medianSeconds(), median(timelines, Timeline::bubbleOverIdeal),
                median(timelines, Timeline::bubbleOverTotal), peakActivations(typical),
                Math.round(median(timelines, first::peakBytesInFlight)));
        return new Outcome(contestant, first.engine().provider().kind(),
                Prediction.of(contestant.label() + ", predicted", calibrations, WARM_UP_STEPS), measured, stepTime,
                control(runs), first.losses(), agreement(contestant, runs, expected), typical);
    }

    private ControlTime control(List<TracedRun> runs) {
        return ControlTime.of(runs.stream()
                .flatMap(run -> run.steps().subList(WARM_UP_STEPS, WARM_UP_STEPS + steps).stream())
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
