package dev.troupe.compare;

import dev.troupe.config.ParallelSpec;
import dev.troupe.config.RunSpec;
import dev.troupe.config.TrainingSpec;
import dev.troupe.engine.Work;
import dev.troupe.run.EngineChoice;
import dev.troupe.run.PreparedRun;
import dev.troupe.run.RunRequest;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.MeasuredCosts;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.schedule.timeline.Timeline;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Compares schedules on one model, one corpus and one seed. Each is run once to read its costs off (an engine that keeps
 * time was told them), then simulated with those costs, then run several times, in turns, and measured.
 *
 * <p>Thread rule: one thread.
 */
public final class Comparison {
    /** Steps in which compilers and caches warm up; no figure is read off them. */
    private static final int WARM_UP_STEPS = 3;
    /** How far losses may lie apart where gradients were added in another order, in float32 and in float64. */
    private static final double FLOAT32_TOLERANCE = 1e-4;
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
     *            a directory in which each run has one of its own while it lasts
     * @param repeats
     *            measured runs of each schedule, at least 1
     * @param steps
     *            measured steps of each run, at least 1
     * @param progress
     *            hears what is being done
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
     *             as {@link PreparedRun} does
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
        Map<Contestant, TracedRun> calibrations = new LinkedHashMap<>();
        Map<Contestant, List<TracedRun>> measured = new LinkedHashMap<>();
        for (Contestant contestant : contestants) {
            progress.accept("reading the costs of " + contestant.label() + " off a run");
            calibrations.put(contestant, run(contestant));
            measured.put(contestant, new ArrayList<>());
        }
        for (int repeat = 0; repeat < repeats; repeat++) {
            for (Contestant contestant : contestants) {
                progress.accept("measuring " + contestant.label() + ", run " + (repeat + 1) + " of " + repeats);
                measured.get(contestant).add(run(contestant));
            }
        }
        List<Double> expected = measured.get(contestants.getFirst()).getFirst().losses();
        List<Outcome> outcomes = new ArrayList<>();
        for (Contestant contestant : contestants) {
            outcomes.add(outcome(contestant, calibrations.get(contestant), measured.get(contestant), expected));
        }
        return outcomes;
    }

    private TracedRun run(Contestant contestant) throws InterruptedException {
        return TracedRun.of(specOf(contestant), builtInCorpus, directory.resolve("run"));
    }

    private RunSpec specOf(Contestant contestant) {
        ParallelSpec parallel = base.parallel();
        TrainingSpec training = base.training();
        return new RunSpec(base.name(), base.model(), base.data(),
                new TrainingSpec(WARM_UP_STEPS + steps, training.globalBatchSize(), training.microbatchSize(),
                        training.seed(), training.precision(), training.gradientClip(), 0, 0, training.zero(),
                        training.optimizer(),
                        training.learningRate()),
                new ParallelSpec(parallel.pipeline(), parallel.tensor(), parallel.data(), parallel.sequence(),
                        contestant.virtualStages(),
                        contestant.schedule(), parallel.layout()),
                base.engine(), base.transport());
    }

    private Outcome outcome(Contestant contestant, TracedRun calibration, List<TracedRun> runs,
            List<Double> expected) {
        Simulation simulation = Simulator.run(calibration.plan().training().plan(), costs(calibration),
                calibration.plan().creditsPerEdge());
        Timeline predicted = simulation.timeline(contestant.label() + ", predicted");
        List<Timeline> timelines = new ArrayList<>();
        List<Double> seconds = new ArrayList<>();
        for (TracedRun run : runs) {
            for (int step = WARM_UP_STEPS; step < WARM_UP_STEPS + steps; step++) {
                timelines.add(run.timeline(contestant.label() + ", measured", step));
                seconds.add(run.seconds().get(step));
            }
        }
        StepTime stepTime = StepTime.of(seconds);
        Timeline typical = timelines.get(IntStream.range(0, seconds.size()).boxed()
                .min((left, right) -> Double.compare(Math.abs(seconds.get(left) - stepTime.medianSeconds()),
                        Math.abs(seconds.get(right) - stepTime.medianSeconds())))
                .orElseThrow());
        return new Outcome(contestant,
                figures(calibration, predicted, predicted.endNanos() / 1e9 + tailSeconds(calibration)),
                new Figures(stepTime.medianSeconds(), median(timelines, Timeline::bubbleOverIdeal),
                        median(timelines, Timeline::bubbleOverTotal), peakActivations(typical),
                        peakBytes(calibration, typical)),
                stepTime, control(runs), runs.getFirst().losses(), agreement(contestant, runs, expected), predicted,
                typical);
    }

    private ControlTime control(List<TracedRun> runs) {
        return ControlTime.of(runs.stream()
                .flatMap(run -> IntStream.range(WARM_UP_STEPS, WARM_UP_STEPS + steps).boxed()
                        .flatMap(step -> run.trace().controlNanos(step).stream()))
                .toList());
    }

    /**
     * What each stage and a hop cost: as told where the engine keeps time, else as the run has them; and on top of each
     * action what the rank's own control takes.
     */
    private Costs costs(TracedRun calibration) {
        List<Timeline> measured = IntStream.range(WARM_UP_STEPS, WARM_UP_STEPS + steps)
                .mapToObj(step -> calibration.timeline("", step)).toList();
        Hop hop = HopMeasure.of(measured);
        long control = ControlGap.medianNanos(measured);
        long bytes = boundaryBytes(calibration);
        EngineChoice engine = calibration.engine();
        if (engine.provider().computes()) {
            Costs costs = MeasuredCosts.of(together(calibration.plan().training().plan(), measured), _ -> bytes,
                    (_, _) -> hop);
            return new Costs(costs.stages().stream().map(stage -> plus(stage, control)).toList(), (_, _) -> hop);
        }
        List<StageCost> stages = IntStream.range(0, calibration.plan().partition().stageCount())
                .mapToObj(stage -> new StageCost(told(engine, stage, Work.FORWARD),
                        told(engine, stage, Work.BACKWARD_INPUT), told(engine, stage, Work.BACKWARD_WEIGHT), bytes))
                .map(stage -> plus(stage, control)).toList();
        return new Costs(stages, (_, _) -> hop);
    }

    private static StageCost plus(StageCost stage, long nanos) {
        return new StageCost(stage.forwardNanos() + nanos, stage.backwardInputNanos() + nanos,
                stage.backwardWeightNanos() + nanos, stage.fullBackwardNanos() + nanos, stage.outputBytes());
    }

    private static long told(EngineChoice engine, int stage, Work work) {
        return engine.settings().costs().nanos(stage, work);
    }

    /** The spans of several steps in one timeline. */
    private static Timeline together(Plan plan, List<Timeline> steps) {
        return new Timeline("", plan.rankCount(), plan.stageCount(),
                steps.stream().map(Timeline::spans).flatMap(List::stream).toList());
    }

    /** What a step takes beyond its plan: reductions, the norm, the update, the coordinator. */
    private double tailSeconds(TracedRun calibration) {
        EngineChoice engine = calibration.engine();
        if (!engine.provider().computes()) {
            Plan plan = calibration.plan().training().plan();
            return IntStream.range(0, plan.rankCount())
                    .mapToLong(rank -> plan.stagesOf(rank).stream()
                            .mapToLong(stage -> told(engine, stage, Work.UPDATE)).sum())
                    .max().orElse(0) / 1e9;
        }
        List<Double> tails = new ArrayList<>();
        for (int step = WARM_UP_STEPS; step < WARM_UP_STEPS + steps; step++) {
            tails.add(calibration.seconds().get(step) - calibration.timeline("", step).endNanos() / 1e9);
        }
        return StepTime.of(tails).medianSeconds();
    }

    private static Figures figures(TracedRun run, Timeline timeline, double stepSeconds) {
        return new Figures(stepSeconds, timeline.bubbleOverIdeal(), timeline.bubbleOverTotal(),
                Collections.max(run.plan().training().peakActivations()), peakBytes(run, timeline));
    }

    private static int peakActivations(Timeline timeline) {
        return IntStream.range(0, timeline.rankCount()).map(timeline::peakActivations).max().orElse(0);
    }

    private static long peakBytes(TracedRun run, Timeline timeline) {
        long bytes = boundaryBytes(run);
        return timeline.peakInFlight(_ -> bytes);
    }

    /** Bytes of an activation between two stages, [N x C]. */
    private static long boundaryBytes(TracedRun run) {
        return (long) run.plan().stageSettings().rows() * run.plan().model().hidden()
                * run.engine().settings().floatType().elementBytes();
    }

    private static double median(List<Timeline> timelines, ToDoubleFunction<Timeline> figure) {
        return StepTime.of(timelines.stream().map(figure::applyAsDouble).toList()).medianSeconds();
    }

    private String agreement(Contestant contestant, List<TracedRun> runs, List<Double> expected) {
        if (!runs.getFirst().engine().provider().computes()) {
            return "nothing computed";
        }
        double tolerance = switch (base.training().precision()) {
            case FLOAT32 -> FLOAT32_TOLERANCE;
            case FLOAT64 -> FLOAT64_TOLERANCE;
        };
        return Agreement.of(contestant.label(), runs.stream().map(TracedRun::losses).toList(), expected, tolerance);
    }
}
