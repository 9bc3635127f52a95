package dev.troupe.look.compare;

import dev.troupe.engine.provider.Work;
import dev.troupe.look.figure.StepTime;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.prepare.EngineChoice;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.MeasuredCosts;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.schedule.timeline.Timeline;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The simulator's prediction for a schedule, with costs from its measured steps.
 *
 * @param figures the median of the simulated steps
 * @param stepTime the spread of the medians of the runs
 * @param seconds the time of each simulated step with its updates, in the order of the turns
 * @param timeline the forwards and backwards of the simulated step closest to the median
 */
public record Prediction(Figures figures, StepTime stepTime, List<Double> seconds, Timeline timeline) {
    /** The seed for the shift of measured times between microbatches; constant, so that comparisons can be repeated. */
    private static final long SEED = 1;

    /**
     * Simulates the plan of the runs, once with the costs of each step.
     *
     * @param runs runs of one plan on one engine, at least one, with the steps from which the costs are read
     */
    static Prediction of(String title, List<TracedRun> runs) {
        TracedRun any = runs.getFirst();
        TrainingPlan plan = any.plan();
        Function<StepTimes, Costs> costs = costs(runs);
        List<List<Step>> simulated = runs.stream().map(run -> run.steps().stream()
                .map(step -> Step.of(Simulator.run(plan.training().plan(), costs.apply(step), plan.creditsPerEdge()),
                        title))
                .toList()).toList();
        List<Step> all = simulated.stream().flatMap(List::stream).toList();
        double seconds = median(all, Step::seconds);
        Timeline typical = Collections.min(all,
                Comparator.comparingDouble(step -> Math.abs(step.seconds() - seconds))).computing();
        Figures figures = new Figures(seconds, median(all, step -> step.computing().bubbleOverIdeal()),
                median(all, step -> step.computing().bubbleOverTotal()),
                Collections.max(plan.training().peakActivations()), any.peakBytesInFlight(typical));
        return new Prediction(figures,
                StepTime.of(simulated.stream().map(steps -> median(steps, Step::seconds)).toList()),
                all.stream().map(Step::seconds).toList(), typical);
    }

    /** A simulated step: its time up to the last of its updates and snapshots, and its forwards and backwards alone. */
    private record Step(double seconds, Timeline computing) {
        static Step of(Simulation simulation, String title) {
            return new Step(simulation.makespanNanos() / 1e9, simulation.timeline(title));
        }
    }

    private static double median(List<Step> steps, ToDoubleFunction<Step> figure) {
        return StepTime.median(steps.stream().map(figure::applyAsDouble).toList());
    }

    /**
     * Returns the costs of each step; the engine {@code emulated} has configured ones. An action takes the time of its kind
     * in that step, {@link MeasuredCosts#shifted}. A hop, the control of an action and the decision take their typical times
     * over all runs.
     */
    private static Function<StepTimes, Costs> costs(List<TracedRun> runs) {
        List<Timeline> whole = runs.stream().flatMap(run -> run.wholeSteps("").stream()).toList();
        List<Timeline> computing = whole.stream().map(Timeline::computing).toList();
        TracedRun any = runs.getFirst();
        Set<Action> paired = any.plan().training().plan().paired();
        Hop hop = HopMeasure.of(computing, paired);
        long control = ControlGap.nanos(computing, paired);
        long decision = DecisionGap.nanos(whole);
        long bytes = any.boundaryBytes();
        EngineChoice engine = any.engine();
        if (!engine.computes()) {
            List<StageCost> stages = IntStream.range(0, any.plan().partition().stageCount())
                    .mapToObj(stage -> configured(engine, stage, bytes).plus(control)).toList();
            int perStep = any.plan().training().plan().microbatchesPerStep();
            return step -> new Costs(stages, (_, _) -> hop, decision,
                    any.plan().stageSettings().dropout().layers().drops()
                            ? (stage, kind, microbatch) -> share(engine, stages.get(stage),
                                    new Action(stage, kind, microbatch % perStep), step.step() + microbatch / perStep,
                                    control)
                            : Costs.Microbatches.ALIKE);
        }
        Random drawn = new Random(SEED);
        return times -> {
            Timeline step = times.timeline("");
            List<StageCost> stages = MeasuredCosts.of(step, _ -> bytes, (_, _) -> hop).stages().stream()
                    .map(stage -> stage.plus(control)).toList();
            return new Costs(stages, (_, _) -> hop, decision, MeasuredCosts.shifted(step, stages, control, drawn));
        };
    }

    /** Returns the share of a cost that an action takes, of the first pipeline. */
    private static double share(EngineChoice engine, StageCost cost, Action action, long step, long control) {
        Work work = switch (action.kind()) {
            case FORWARD -> Work.FORWARD;
            case BACKWARD_INPUT -> Work.BACKWARD_INPUT;
            case BACKWARD_WEIGHT -> Work.BACKWARD_WEIGHT;
            case FULL_BACKWARD -> Work.BACKWARD;
            case RECOMPUTE -> Work.RECOMPUTE;
            default -> null;
        };
        long nanos = cost.nanos(action.kind());
        return work == null || nanos == 0
                ? 1
                : (double) (engine.settings().costs().nanos(action.stage(), work, step, action.microbatch()) + control)
                        / nanos;
    }

    private static StageCost configured(EngineChoice engine, int stage, long bytes) {
        long input = configured(engine, stage, Work.BACKWARD_INPUT);
        long weight = configured(engine, stage, Work.BACKWARD_WEIGHT);
        return new StageCost(configured(engine, stage, Work.FORWARD), input, weight, input + weight, bytes,
                Map.of(Kind.UPDATE, configured(engine, stage, Work.UPDATE), Kind.RECOMPUTE,
                        configured(engine, stage, Work.RECOMPUTE)));
    }

    private static long configured(EngineChoice engine, int stage, Work work) {
        return engine.settings().costs().nanos(stage, work);
    }
}
