package dev.troupe.look.compare;

import dev.troupe.config.RunSpec;
import dev.troupe.partition.Partition;
import dev.troupe.plan.planner.ProfiledTimes;
import dev.troupe.plan.profile.Profile;
import dev.troupe.plan.profile.StepOverheads;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A short run of a configuration, which gives a profile the times outside the layers. Thread rule: one thread. */
public final class OverheadTrial {
    private static final int STEPS = 20;

    private OverheadTrial() {
    }

    /**
     * Measures.
     *
     * @param profile of the layers of this run
     * @throws ComparisonException if the run fails
     */
    public static StepOverheads measure(RunSpec spec, byte[] builtInCorpus, Profile profile)
            throws InterruptedException {
        RunSpec measured = Comparison.measured(spec.with(Map.of("parallel.layout", Partition.UNIFORM,
                "engine.threads", profile.setting().threads())), STEPS);
        TracedRun run = SideBySide.inTurns(List.of(measured), builtInCorpus).getFirst();
        return of(run.only(step -> step >= Comparison.WARM_UP_STEPS), profile);
    }

    static StepOverheads of(TracedRun run, Profile profile) {
        List<StageCost> alone = new ProfiledTimes(profile.with(StepOverheads.NONE)).of(run.plan());
        Set<Action> paired = run.plan().training().plan().paired();
        List<Long> ppm = new ArrayList<>();
        List<Long> control = new ArrayList<>();
        List<Long> hops = new ArrayList<>();
        List<Long> decisions = new ArrayList<>();
        List<Long> rest = new ArrayList<>();
        List<Timeline> steps = run.wholeSteps("");
        for (int step = 0; step < steps.size(); step++) {
            Timeline whole = steps.get(step);
            List<Timeline> computing = List.of(whole.computing());
            ppm.add(factorPpm(whole, alone));
            control.add(ControlGap.nanos(computing, paired));
            hops.add(HopMeasure.of(computing, paired).latencyNanos());
            decisions.add(DecisionGap.nanos(List.of(whole)));
            rest.add(Math.max(0, Math.round(run.seconds().get(step) * 1e9) - whole.endNanos()));
        }
        return new StepOverheads(ppm, control, hops, decisions, rest);
    }

    private static long factorPpm(Timeline step, List<StageCost> alone) {
        double measured = 0;
        double expected = 0;
        for (Span span : step.spans()) {
            Kind kind = span.action().kind();
            if (kind.isCompute()) {
                measured += span.nanos();
                expected += alone.get(span.action().stage()).nanos(kind);
            }
        }
        return Math.round(1e6 * measured / expected);
    }
}
