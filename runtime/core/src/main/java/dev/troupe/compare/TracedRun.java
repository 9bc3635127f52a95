package dev.troupe.compare;

import dev.troupe.config.RunSpec;
import dev.troupe.protocol.StepResult;
import dev.troupe.model.spec.Axis;
import dev.troupe.observe.RunListener;
import dev.troupe.observe.RunOutcome;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.prepare.EngineChoice;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.prepare.RunDirectory;
import dev.troupe.prepare.RunRequest;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.TransportOf;
import dev.troupe.schedule.idle.StepTimes;
import dev.troupe.schedule.timeline.Timeline;
import dev.troupe.transport.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * A short run of one schedule, with the times of all its actions.
 *
 * @param plan
 *            the plan of the run
 * @param engine
 *            the engine of the run
 * @param losses
 *            the loss of each step
 * @param seconds
 *            the time of each step, on the coordinator's clock
 * @param steps
 *            the times of all actions of each step
 */
record TracedRun(TrainingPlan plan, EngineChoice engine, List<Double> losses, List<Double> seconds,
        List<StepTimes> steps) {
    /**
     * Runs a specification from its first step to its last, and deletes the directory.
     *
     * @throws ComparisonException
     *             where the run fails
     */
    static TracedRun of(RunSpec spec, byte[] builtInCorpus, Path directory) throws InterruptedException {
        List<StepTimes> steps = Collections.synchronizedList(new ArrayList<>());
        List<Double> losses = Collections.synchronizedList(new ArrayList<>());
        List<Double> seconds = Collections.synchronizedList(new ArrayList<>());
        RunListener listener = new RunListener() {
            @Override
            public void onStarted() {
                // losses and times come with the steps
            }

            @Override
            public void onTimes(StepTimes times) {
                steps.add(times);
            }

            @Override
            public void onStep(StepResult result, double stepSeconds) {
                losses.add(result.loss());
                seconds.add(stepSeconds);
            }

            @Override
            public void onValidated(long stepsDone, double loss) {
                throw new IllegalStateException("a comparison measures no validation loss");
            }

            @Override
            public void onCheckpoint(long stepsDone, Path checkpoint) {
                throw new IllegalStateException("a traced run writes no checkpoint");
            }

            @Override
            public void onCheckpointFailed(long stepsDone, String why) {
                throw new IllegalStateException("a traced run writes no checkpoint");
            }
        };
        RunRequest request = new RunRequest(spec, builtInCorpus, directory, Optional.empty(), OptionalLong.empty(),
                true, Optional.empty());
        try (PreparedRun run = new PreparedRun(request);
                Transport transport = TransportOf.run(run);
                RunDirectory opened = RunDirectory.open(directory)) {
            RunOutcome outcome = TrainingRun.start(run, opened, transport, TrainingRun.warmUp(run), listener).await();
            if (outcome.failure().isPresent()) {
                throw new ComparisonException(
                        spec.parallel().schedule() + " failed: " + outcome.failure().get());
            }
            return new TracedRun(run.plan(), run.engine(), List.copyOf(losses), List.copyOf(seconds),
                    List.copyOf(steps));
        } finally {
            deleteEmpty(directory);
        }
    }

    private static void deleteEmpty(Path directory) {
        try {
            Files.deleteIfExists(directory);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Each step from a given one to the last, as a timeline of its forwards and backwards. */
    List<Timeline> timelines(String title, int firstStep) {
        return wholeSteps(title, firstStep).stream().map(Timeline::computing).toList();
    }

    /** As {@link #timelines}, with all that ranks did in the steps. */
    List<Timeline> wholeSteps(String title, int firstStep) {
        return steps.subList(firstStep, steps.size()).stream().map(step -> step.timeline(title)).toList();
    }

    /** Bytes of an activation between two stages, [N x C]. */
    long boundaryBytes() {
        return (long) plan.stageSettings().rows() * plan.model().size(Axis.HIDDEN)
                * engine.settings().computeType().elementBytes();
    }

    /**
     * Returns the most bytes that were made for one rank and not used by it yet, in a step of this run or a simulated
     * one of its plan.
     */
    long peakBytesInFlight(Timeline step) {
        return step.peakInFlight(_ -> boundaryBytes());
    }
}
