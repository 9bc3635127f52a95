package dev.troupe.look.compare;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.prepare.EngineChoice;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * A short run of one schedule, with the times of all its actions.
 *
 * @param seconds the time of each step here, on the coordinator's clock
 * @param steps the times of all actions of each step here
 */
record TracedRun(TrainingPlan plan, EngineChoice engine, List<Double> losses, List<Double> seconds,
        List<StepTimes> steps) {
    /** Returns the run with only some of its steps, but with all its losses. */
    TracedRun only(IntPredicate isTaken) {
        int[] taken = IntStream.range(0, steps.size()).filter(isTaken).toArray();
        return new TracedRun(plan, engine, losses, IntStream.of(taken).mapToObj(seconds::get).toList(),
                IntStream.of(taken).mapToObj(steps::get).toList());
    }

    /** Returns each step as a timeline of its forwards and backwards. */
    List<Timeline> timelines(String title) {
        return wholeSteps(title).stream().map(Timeline::computing).toList();
    }

    /** As {@link #timelines}, with all actions of the ranks. */
    List<Timeline> wholeSteps(String title) {
        return steps.stream().map(step -> step.timeline(title)).toList();
    }

    /** Returns the bytes of an activation between two stages, [N x C]. */
    long boundaryBytes() {
        return plan.boundaryBytes(engine.settings().computeType());
    }

    /** Returns the peak of bytes that were made for one rank and not used by it yet, in a measured or simulated step. */
    long peakBytesInFlight(Timeline step) {
        return step.peakInFlight(_ -> boundaryBytes());
    }
}
