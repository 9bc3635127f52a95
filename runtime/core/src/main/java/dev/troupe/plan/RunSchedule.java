package dev.troupe.plan;

import dev.troupe.config.spec.OverlapSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.update.LossScaleSpec;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.SplitCoolDown;
import dev.troupe.schedule.family.OverlappingRule;
import dev.troupe.schedule.family.OverlappingSteps;
import dev.troupe.schedule.family.PipeDream;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.Schedules;
import java.math.BigInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The counts of a run's steps. If steps overlap, they determine when the pipeline is flushed.
 *
 * @param steps steps done at its end
 * @param validateEvery steps between two validations; 0: none
 * @param checkpointEvery steps between two checkpoints; 0: only one at the end
 */
public record RunSchedule(long stepsDone, long steps, long validateEvery, long checkpointEvery) {
    /** Maximum steps of a pass: a rank that fails repeats the pass, and keeps all messages that it has sent in it. */
    private static final int MOST_BY_DEFAULT = 8;
    /** The same if a step is one microbatch. */
    private static final int MOST_MICROBATCHES_BY_DEFAULT = 32;

    /**
     * Returns the schedule of the run.
     *
     * @param sharesParameter whether two layers share a trained parameter
     * @throws dev.troupe.schedule.PlanException if there is no such schedule
     * @throws UsageException if its steps overlap, and the run cannot do that
     */
    public Schedule of(ParallelSpec parallel, int microbatches, TrainingSpec training, boolean sharesParameter) {
        if (!parallel.replicas().isEmpty()) {
            requireReplicas(parallel, training);
        }
        if (!Schedules.overlapsSteps(parallel.schedule())) {
            Schedule named = Schedules.named(parallel.schedule());
            return parallel.splitCoolDown() ? new SplitCoolDown(named) : named;
        }
        if (training.memory().zero() > 1 && parallel.data() > 1) {
            throw new UsageException("training.zero = " + training.memory().zero() + ", but under "
                    + parallel.schedule()
                    + " a rank holds whole versions of its weights and whole sums of its gradients: set training.zero to 1 or 0,"
                    + " or take a schedule that does one step after the other, such as 1f1b");
        }
        if (parallel.splitCoolDown()) {
            throw new UsageException("parallel.split-cool-down = true, but " + parallel.schedule()
                    + " has no cool-down between its steps: leave it out");
        }
        OverlapSpec overlap = parallel.overlap();
        OverlappingRule rule = OverlappingRule.named(parallel.schedule(), switch (overlap.updates()) {
            case LAZY -> PipeDream2Bw.Updates.LAZY;
            case EAGER -> PipeDream2Bw.Updates.EAGER;
        }, overlap.warmUp(), parallel.replicas());
        int round = parallel.replicas().isEmpty() ? 1 : new Replicas(parallel.replicas()).round();
        requireRounds(parallel, round);
        boolean areSingle = rule instanceof PipeDream;
        if (areSingle) {
            requireUpdatesAlone(parallel, training, sharesParameter);
        }
        long forwards = (long) parallel.stageCount() * microbatches; // of a step
        return new OverlappingSteps(rule, overlap.flushEvery() == 0
                ? flushEvery(forwards, areSingle ? MOST_MICROBATCHES_BY_DEFAULT : MOST_BY_DEFAULT, round)
                : checked(overlap.flushEvery(), forwards));
    }

    /** Refuses settings that do not work with stages on several ranks. */
    private static void requireReplicas(ParallelSpec parallel, TrainingSpec training) {
        String found = "parallel.replicas = " + parallel.replicas();
        if (!parallel.schedule().equals(PipeDream.STASHING)) {
            throw new UsageException(found + ", but parallel.schedule = " + parallel.schedule()
                    + " has each stage on one rank: take " + PipeDream.STASHING + ", or leave the replicas out");
        }
        if (parallel.data() > 1 || parallel.tensor() > 1) {
            throw new UsageException(found + ", but parallel.data = " + parallel.data() + " and parallel.tensor = "
                    + parallel.tensor()
                    + ": the replicas of a stage share out its microbatches, as pipelines side by side"
                    + " do, and each is one rank: set both to 1, or leave the replicas out");
        }
        if (training.memory().zero() > 0) {
            throw new UsageException(found + ", but training.zero = " + training.memory().zero()
                    + ": each replica holds and updates all weights of its stage: set it to 0, or leave the replicas out");
        }
    }

    /** Refuses counts of steps, of one microbatch each, that do not end a round. */
    private void requireRounds(ParallelSpec parallel, int round) {
        if (divisor() % round == 0 && parallel.overlap().flushEvery() % round == 0) {
            return;
        }
        throw new UsageException(
                "parallel.replicas = " + parallel.replicas() + ": all stages have updated their weights"
                        + " after a multiple of " + round + " microbatches, so " + round
                        + " must divide training.steps = " + steps
                        + (validateEvery == 0 ? "" : ", training.validate-every = " + validateEvery)
                        + (checkpointEvery == 0 ? "" : ", training.checkpoint-every = " + checkpointEvery)
                        + (parallel.overlap().flushEvery() == 0
                                ? ""
                                : ", parallel.flush-every = " + parallel.overlap().flushEvery())
                        + (stepsDone == 0 ? "" : " and the " + stepsDone + " steps that are done") + ": change them");
    }

    /** Refuses settings that make an update wait for other stages, although each stage updates on its own. */
    private static void requireUpdatesAlone(ParallelSpec parallel, TrainingSpec training, boolean sharesParameter) {
        String alone = ", but under " + parallel.schedule()
                + " a stage updates its weights after each of its backwards, and ";
        String instead = ", or take " + PipeDream2Bw.NAME;
        if (training.update().gradientClip() > 0) {
            throw new UsageException("training.gradient-clip = " + training.update().gradientClip() + alone
                    + "the norm of all gradients is there when those of stage 0 are, so that clipping would delay every update"
                    + " to then: set it to 0" + instead + ", which clips");
        }
        if (training.update().lossScale().kind() != LossScaleSpec.Kind.NONE) {
            throw new UsageException("training.loss-scale = " + training.update().lossScale().text() + alone
                    + "an overflow is found when the gradients of stage 0 are there, so that to skip a step would delay every"
                    + " update to then: set it to none" + instead);
        }
        if (sharesParameter && parallel.pipeline() > 1) {
            throw new UsageException("the first and the last stage share the table of tied embeddings" + alone
                    + "the table's gradient is the sum of both, so that it would be delayed by more updates than the weights"
                    + " around it: take a model without tied embeddings (model.tie-embeddings = false), parallel.pipeline = 1"
                    + instead);
        }
    }

    /** Returns the largest number of steps that every pass can have. */
    private int flushEvery(long forwards, int most, int round) {
        return IntStream.rangeClosed(1, Math.max(most, round))
                .filter(number -> number % round == 0 && divisor() % number == 0
                        && number * forwards <= SizeChecks.MOST_FORWARDS)
                .max().orElse(round);
    }

    private int checked(int flushEvery, long forwards) {
        SizeChecks.atMost(flushEvery * forwards, SizeChecks.MOST_FORWARDS,
                "the steps from one flush to the next would have"
                        + " %,d forwards (parallel.pipeline x microbatches x parallel.flush-every), and a plan has at most %,d: lower"
                        + " parallel.flush-every");
        if (divisor() % flushEvery != 0) {
            throw new UsageException("parallel.flush-every = " + flushEvery + " must divide training.steps = " + steps
                    + (validateEvery == 0 ? "" : ", training.validate-every = " + validateEvery)
                    + (checkpointEvery == 0 ? "" : ", training.checkpoint-every = " + checkpointEvery)
                    + (stepsDone == 0 ? "" : " and the " + stepsDone + " steps that are done")
                    + ", since a run validates and writes checkpoints when its pipeline is flushed: take a divisor of "
                    + divisor() + ", or change them");
        }
        return flushEvery;
    }

    private long divisor() {
        return LongStream.of(steps, validateEvery, checkpointEvery, stepsDone).mapToObj(BigInteger::valueOf)
                .reduce(BigInteger.ZERO, BigInteger::gcd).longValueExact();
    }
}
