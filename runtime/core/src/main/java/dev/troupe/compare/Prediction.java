package dev.troupe.compare;

import dev.troupe.schedule.Action;
import dev.troupe.engine.provider.Work;
import dev.troupe.prepare.EngineChoice;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.MeasuredCosts;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.schedule.timeline.Timeline;
import java.util.Collections;
import java.util.List;
import java.util.Map;
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
     *            runs of one plan on one engine, at least one, with the steps of which the costs are read off
     */
    static Prediction of(String title, List<TracedRun> runs) {
        TracedRun any = runs.getFirst();
        Simulation whole = simulate(runs);
        Timeline timeline = whole.timeline(title);
        Figures figures = new Figures(whole.makespanNanos() / 1e9,
                timeline.bubbleOverIdeal(), timeline.bubbleOverTotal(),
                Collections.max(any.plan().training().peakActivations()), any.peakBytesInFlight(timeline));
        return new Prediction(figures, StepTime.of(runs.stream().map(List::of)
                .map(alone -> simulate(alone).makespanNanos() / 1e9).toList()), timeline);
    }

    private static Simulation simulate(List<TracedRun> runs) {
        TrainingPlan plan = runs.getFirst().plan();
        return Simulator.run(plan.training().plan(), costs(runs), plan.creditsPerEdge());
    }

    /**
     * Returns the costs of each stage and of a hop: the configured ones of the engine {@code emulated}, else those of
     * the runs; and for each action the time of the rank's own control.
     */
    private static Costs costs(List<TracedRun> runs) {
        List<Timeline> whole = runs.stream().flatMap(run -> run.wholeSteps("").stream()).toList();
        List<Timeline> measured = whole.stream().map(Timeline::computing).toList();
        TracedRun any = runs.getFirst();
        Set<Action> paired = any.plan().training().plan().paired();
        Hop hop = HopMeasure.of(measured, paired);
        long control = ControlGap.nanos(measured, paired);
        long bytes = any.boundaryBytes();
        EngineChoice engine = any.engine();
        List<StageCost> stages = engine.computes()
                ? MeasuredCosts.of(together(any.plan().training().plan(), whole), _ -> bytes, (_, _) -> hop).stages()
                : IntStream.range(0, any.plan().partition().stageCount()).mapToObj(stage -> told(engine, stage, bytes))
                        .toList();
        return new Costs(stages.stream().map(stage -> stage.plus(control)).toList(), (_, _) -> hop,
                DecisionGap.nanos(whole));
    }

    private static StageCost told(EngineChoice engine, int stage, long bytes) {
        long input = told(engine, stage, Work.BACKWARD_INPUT);
        long weight = told(engine, stage, Work.BACKWARD_WEIGHT);
        return new StageCost(told(engine, stage, Work.FORWARD), input, weight, input + weight, bytes,
                Map.of(Kind.UPDATE, told(engine, stage, Work.UPDATE), Kind.RECOMPUTE,
                        told(engine, stage, Work.RECOMPUTE)));
    }

    private static long told(EngineChoice engine, int stage, Work work) {
        return engine.settings().costs().nanos(stage, work);
    }

    /** The spans of several steps in one timeline. */
    private static Timeline together(Plan plan, List<Timeline> steps) {
        return new Timeline("", plan.rankCount(), plan.stageCount(),
                steps.stream().map(Timeline::spans).flatMap(List::stream).toList());
    }
}
