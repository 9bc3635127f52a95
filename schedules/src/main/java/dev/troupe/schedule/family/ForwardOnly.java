package dev.troupe.schedule.family;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The schedule of the validation loss: forwards alone, in rounds. Every rank takes a round through its first local stage,
 * then through the next.
 *
 * <pre>
 * P = 2, V = 2, M = 4
 * rank 0   0F0 0F1 2F0 2F1 0F2 0F3 2F2 2F3
 * rank 1       1F0 1F1 3F0 3F1 1F2 1F3 3F2 3F3
 * </pre>
 *
 * <p>A round has P microbatches or a few more. Its first one is back at rank 0 when its last one has left, so that with the
 * LOOP placement no rank idles between fill and drain. It cannot deadlock: every rank and every microbatch follows one total
 * order of actions, (round, lap, microbatch, step of the lap).
 *
 * @param placement the ranks of the stages; the same as in training
 */
public record ForwardOnly(Placement placement) implements Schedule {
    @Override
    public String name() {
        return "forward-only";
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requirePositive(name(), pipeline, virtualStages, microbatches);
        if (placement instanceof Replicas replicas) {
            return inTurns(replicas, microbatches);
        }
        int stageCount = pipeline * virtualStages;
        return new Plan(name(), pipeline, stageCount, microbatches, placement, IntStream.range(0, pipeline)
                .mapToObj(rank -> row(placement.stagesOf(rank, pipeline, stageCount), pipeline, microbatches))
                .toList());
    }

    /** Returns the plan in which each replica has its own microbatches. */
    private Plan inTurns(Replicas replicas, int microbatches) {
        List<List<Action>> rows = new ArrayList<>();
        for (int stage = 0; stage < replicas.counts().size(); stage++) {
            for (int replica = 0; replica < replicas.replicas(stage); replica++) {
                List<Action> row = new ArrayList<>();
                for (int microbatch = replica; microbatch < microbatches; microbatch += replicas.replicas(stage)) {
                    row.add(new Action(stage, Kind.FORWARD, microbatch));
                }
                rows.add(row);
            }
        }
        return new Plan(name(), rows.size(), replicas.counts().size(), microbatches, placement, rows);
    }

    private static List<Action> row(List<Integer> stages, int pipeline, int microbatches) {
        List<Action> row = new ArrayList<>();
        int rounds = Math.max(1, microbatches / pipeline); // rounded down: a round is never shorter than the pipeline
        for (int round = 0; round < rounds; round++) {
            int first = firstOf(round, rounds, microbatches);
            int end = firstOf(round + 1, rounds, microbatches);
            for (int stage : stages) {
                for (int microbatch = first; microbatch < end; microbatch++) {
                    row.add(new Action(stage, Kind.FORWARD, microbatch));
                }
            }
        }
        return row;
    }

    /** Returns the first microbatch of a round, rounded down: rounds differ by at most one microbatch. */
    private static int firstOf(int round, int rounds, int microbatches) {
        return (int) ((long) round * microbatches / rounds);
    }
}
