package dev.troupe.schedule.family;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.StageGraph;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * PipeDream: 1F1B without drains, in which each stage updates its weights after each backward, without waiting for another
 * stage. A step is one microbatch. The forward and backward of a microbatch use the same version of a stage's weights. The
 * stage keeps a version until the last microbatch that has read it is back.
 *
 * <pre>
 * P = 3, weight stashing; F3@1 is microbatch 3 on the weights after one update
 * rank 0   F0@0 F1@0 F2@0 B0@0 U0 F3@1 B1@0 U1 F4@2 B2@0 U2 F5@3 B3@1 U3 ...
 * rank 1   F0@0 F1@0 B0@0 U0 F2@1 B1@0 U1 F3@2 B2@1 U2 F4@3 B3@2 U3 ...
 * rank 2   F0@0 B0@0 U0 F1@1 B1@1 U1 F2@2 B2@2 U2 F3@3 B3@3 U3 ...
 * </pre>
 *
 * <p>Under weight stashing a forward reads the newest weights of its stage. So the gradients of stage s are P-1-s updates
 * old, and a microbatch meets a different number of updates in each stage. With vertical sync every stage uses the version
 * that stage 0 used, P-1 updates old, and keeps P versions.
 *
 * <p>A stage on R ranks, its replicas, does microbatch k on replica k mod R, forward and backward, and updates its weights
 * once in a round of R microbatches:
 *
 * <pre>
 * two stages, on 2 and 1 ranks
 * rank 0   F0@0 F2@0 B0@0 U1 F4@1 B2@0 U3 F6@2 B4@1 U5 ...
 * rank 1   F1@0 F3@0 B1@0 U1 F5@1 B3@0 U3 F7@2 B5@1 U5 ...
 * rank 2   F0@0 B0@0 U0 F1@1 B1@1 U1 F2@2 B2@2 U2 F3@3 B3@3 U3 ...
 * </pre>
 *
 * <p>The warm-up of a replica of stage s has {@code (ranks - 1 - ranks of earlier stages) / R} forwards, rounded down, and
 * its gradients are that number of updates old.
 *
 * <p>Source: Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, 2019, sections 3.2 and 3.3; the
 * warm-up of replicas as in its {@code runtime.py}, {@code num_warmup_minibatches}.
 *
 * @param hasVerticalSync whether all stages read the same version for a microbatch
 * @param replicas the number of ranks of each stage; empty for one each
 */
public record PipeDream(boolean hasVerticalSync, List<Integer> replicas) implements OverlappingRule {
    /** The name of the schedule with weight stashing alone. */
    public static final String STASHING = "pipedream";
    /** The name of the schedule with vertical sync. */
    public static final String VERTICAL_SYNC = "pipedream-vertical-sync";

    public PipeDream {
        replicas = List.copyOf(replicas);
        if (hasVerticalSync && !replicas.isEmpty()) {
            throw new PlanException(
                    VERTICAL_SYNC + " gives every stage the version of the weights that stage 0 had, but stages"
                            + " on several ranks have had different numbers of updates: take " + STASHING
                            + ", or no replicas.");
        }
    }

    /** Creates the rule with one rank for each stage. */
    public PipeDream(boolean hasVerticalSync) {
        this(hasVerticalSync, List.of());
    }

    @Override
    public String name() {
        return hasVerticalSync ? VERTICAL_SYNC : STASHING;
    }

    @Override
    public Plan plan(int pipeline, int microbatches, int steps) {
        return plan(pipeline, microbatches, steps, 0);
    }

    /** The first version is 1 or later in a plan that continues another, and 0 in a plan that does not. */
    @Override
    public Plan continuing(int pipeline, int microbatches, int steps) {
        Replicas placement = placement(pipeline);
        int oldest = IntStream.range(0, pipeline).map(stage -> warmUp(placement, stage)).max().orElse(0);
        return plan(pipeline, microbatches, steps, Math.max(1, oldest));
    }

    private Plan plan(int pipeline, int microbatches, int steps, int firstVersion) {
        OverlappingRule.requireSizes(name(), pipeline, microbatches, steps);
        if (microbatches != 1) {
            throw new PlanException(
                    name() + " updates the weights after each microbatch, so that a step has 1, but was asked"
                            + " for " + microbatches + " in a step: ask for 1 (in a run, training.microbatch-size ="
                            + " training.global-batch-size), or take " + PipeDream2Bw.NAME + ".");
        }
        Replicas placement = placement(pipeline);
        if (steps % placement.round() != 0) {
            throw new PlanException(name() + " with replicas " + placement + " has rounds of " + placement.round()
                    + " microbatches, after which each stage has updated its weights, but was asked for " + steps
                    + " steps: ask for a multiple of " + placement.round() + ".");
        }
        List<List<Action>> rows = new ArrayList<>();
        for (int stage = 0; stage < pipeline; stage++) {
            int warmUp = warmUp(placement, stage);
            int count = placement.replicas(stage);
            for (int replica = 0; replica < count; replica++) {
                rows.add(new OverlappingRow(stage, 1, steps / count, firstVersion,
                        hasVerticalSync ? pipeline - 1 : warmUp, false, replica, count).withWarmUp(warmUp));
            }
        }
        return new Plan(name(), rows.size(), pipeline, steps, steps, replicas.isEmpty() ? Laps.LOOP : placement,
                rows, Set.of(), StageGraph.chain(pipeline), firstVersion, true);
    }

    /** Returns the placement of the replicas; a stage has one if none are given. */
    private Replicas placement(int pipeline) {
        if (!replicas.isEmpty() && replicas.size() != pipeline) {
            throw new PlanException(name() + " needs a number of replicas for each of its stages, " + pipeline
                    + " in number, but was asked for " + replicas + ": give " + pipeline + ".");
        }
        return new Replicas(replicas.isEmpty() ? Collections.nCopies(pipeline, 1) : replicas);
    }

    /** Returns the forwards of the warm-up of each replica of a stage, and the age of its gradients in updates. */
    private static int warmUp(Replicas placement, int stage) {
        return (placement.rankCount() - 1 - placement.ranksBefore(stage)) / placement.replicas(stage); // rounded down
    }

    /** The warm-up, then one round trip of a microbatch through the full pipeline. */
    @Override
    public int drawnSteps(int pipeline) {
        Replicas placement = placement(pipeline);
        int rounds = Math.ceilDiv(Math.max(4, 3 * placement.rankCount()), placement.round());
        return (placement.round() == 1 ? rounds : rounds + 2) * placement.round();
    }
}
