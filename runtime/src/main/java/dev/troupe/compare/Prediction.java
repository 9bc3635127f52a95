package dev.troupe.compare;

import dev.troupe.schedule.Action;
import dev.troupe.engine.provider.Work;
import dev.troupe.prepare.EngineChoice;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.MeasuredCosts;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The simulator's prediction for a schedule, with costs that were read off runs of it.
 *
 * @param figures
 *            the figures with the costs of all runs together
 * @param stepTime
 *            the step time with the costs of each run by itself
 * @param timeline
 *            the step simulated with the costs of all runs
 */
public record Prediction(Figures figures, StepTime stepTime, Timeline timeline) {
    /**
     * Simulates the plan of the runs.
     *
     * @param runs
     *            runs of one plan on one engine, at least one
     * @param firstStep
     *            the first step of each run that counts, after the warm-up
     */
    static Prediction of(String title, List<TracedRun> runs, int firstStep) {
        TracedRun any = runs.getFirst();
        Timeline timeline = simulate(title, runs, firstStep);
        Figures figures = new Figures(timeline.endNanos() / 1e9 + tailSeconds(runs, firstStep),
                timeline.bubbleOverIdeal(), timeline.bubbleOverTotal(),
                Collections.max(any.plan().training().peakActivations()), any.peakBytesInFlight(timeline));
        return new Prediction(figures, StepTime.of(runs.stream().map(List::of)
                .map(alone -> simulate(title, alone, firstStep).endNanos() / 1e9 + tailSeconds(alone, firstStep))
                .toList()), timeline);
    }

    private static Timeline simulate(String title, List<TracedRun> runs, int firstStep) {
        TrainingPlan plan = runs.getFirst().plan();
        return Simulator.run(plan.training().plan(), costs(runs, firstStep), plan.creditsPerEdge()).timeline(title);
    }

    /**
     * Returns the costs of each stage and of a hop: the configured ones of the engine {@code emulated}, else those of
     * the runs; and for each action the time of the rank's own control.
     */
    private static Costs costs(List<TracedRun> runs, int firstStep) {
        List<Timeline> measured = runs.stream().flatMap(run -> run.timelines("", firstStep).stream()).toList();
        TracedRun any = runs.getFirst();
        Set<Action> paired = any.plan().training().plan().paired();
        Hop hop = HopMeasure.of(measured, paired);
        long control = ControlGap.nanos(measured, paired);
        long bytes = any.boundaryBytes();
        EngineChoice engine = any.engine();
        List<StageCost> stages = engine.computes()
                ? MeasuredCosts.of(together(any.plan().training().plan(), measured), _ -> bytes, (_, _) -> hop).stages()
                : IntStream.range(0, any.plan().partition().stageCount())
                        .mapToObj(stage -> new StageCost(told(engine, stage, Work.FORWARD),
                                told(engine, stage, Work.BACKWARD_INPUT), told(engine, stage, Work.BACKWARD_WEIGHT),
                                bytes))
                        .toList();
        return new Costs(stages.stream().map(stage -> plus(stage, control)).toList(), (_, _) -> hop);
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

    /** Returns the time of a step beyond its plan: reductions, the norm, the update, the coordinator. */
    private static double tailSeconds(List<TracedRun> runs, int firstStep) {
        EngineChoice engine = runs.getFirst().engine();
        if (!engine.computes()) {
            Plan plan = runs.getFirst().plan().training().plan();
            return IntStream.range(0, plan.rankCount())
                    .mapToLong(rank -> plan.stagesOf(rank).stream()
                            .mapToLong(stage -> told(engine, stage, Work.UPDATE)).sum())
                    .max().orElse(0) / 1e9;
        }
        List<Double> tails = new ArrayList<>();
        for (TracedRun run : runs) {
            List<Timeline> timelines = run.timelines("", firstStep);
            for (int index = 0; index < timelines.size(); index++) {
                tails.add(run.seconds().get(firstStep + index) - timelines.get(index).endNanos() / 1e9);
            }
        }
        return StepTime.median(tails);
    }
}
