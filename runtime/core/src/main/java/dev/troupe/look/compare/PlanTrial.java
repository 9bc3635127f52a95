package dev.troupe.look.compare;

import dev.troupe.config.RunSpec;
import dev.troupe.look.figure.StepTime;
import dev.troupe.plan.memory.MachineMemory;
import dev.troupe.plan.planner.PricedPlan;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.prepare.SizedRun;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * The measured steps of plans that a planner has chosen. All runs exist at the same time in this process and alternate step
 * by step, so that a busy minute of the machine is in the times of all; the first steps of each are left out. Thread rule:
 * one thread.
 */
public final class PlanTrial {
    private final byte[] builtInCorpus;
    private final int steps;

    /**
     * @param builtInCorpus text to train on if the runs name none
     * @param steps measured steps of each run, at least 1
     */
    public PlanTrial(byte[] builtInCorpus, int steps) {
        this.builtInCorpus = builtInCorpus;
        this.steps = steps;
    }

    /**
     * The measured steps of a plan.
     *
     * @param seconds the time of each step, in the order of the turns
     */
    public record Measured(PricedPlan plan, List<Double> seconds) {
        public Measured {
            seconds = List.copyOf(seconds);
        }

        /** Returns the median of the steps. */
        public double medianSeconds() {
            return StepTime.of(seconds).medianSeconds();
        }

        /** Returns the predicted step divided by the median of the measured ones. */
        public double predictedOverMeasured() {
            return plan.stepNanos() / 1e9 / medianSeconds();
        }
    }

    /** Returns the first plans that fit the memory of this machine together; all if their engine computes nothing. */
    public List<PricedPlan> fitting(List<PricedPlan> plans) {
        long available = MachineMemory.availableBytes();
        List<PricedPlan> fitting = new ArrayList<>();
        for (PricedPlan plan : plans) {
            try (OpenedRun opened = OpenedRun.of(request(measured(plan)))) {
                PlannedRun planned = PlannedRun.of(opened);
                available -= planned.engine().computes() ? SizedRun.of(planned).memory().total() : 0;
            }
            if (available < 0) {
                break;
            }
            fitting.add(plan);
        }
        return fitting;
    }

    /**
     * Measures plans.
     *
     * @param plans without overlapping steps
     * @throws ComparisonException if a run fails
     */
    public List<Measured> run(List<PricedPlan> plans) throws InterruptedException {
        List<TracedRun> runs = SideBySide.inTurns(plans.stream().map(this::measured).toList(), builtInCorpus);
        return IntStream.range(0, plans.size()).mapToObj(index -> new Measured(plans.get(index), runs.get(index)
                .seconds().subList(Comparison.WARM_UP_STEPS, Comparison.WARM_UP_STEPS + steps))).toList();
    }

    private RunSpec measured(PricedPlan plan) {
        return Comparison.measured(plan.spec(), steps);
    }

    private RunRequest request(RunSpec spec) {
        return new RunRequest(spec, builtInCorpus, Path.of("runs", "plan"), Optional.empty(), OptionalLong.empty(),
                true,
                Optional.empty());
    }
}
