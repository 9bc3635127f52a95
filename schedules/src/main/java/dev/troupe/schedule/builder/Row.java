package dev.troupe.schedule.builder;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * A builder of one rank's row. Every method adds an action for the next microbatch of a stage, so that a schedule names only
 * stages. Actions after the last microbatch are left out.
 */
public final class Row {
    private final int microbatches;
    private final List<Action> actions = new ArrayList<>();
    private final List<Integer> pairs = new ArrayList<>();
    private final Map<Kind, Map<Integer, Integer>> next = new EnumMap<>(Kind.class);

    /** Creates a row for microbatches 0 to {@code microbatches} - 1. */
    public Row(int microbatches) {
        this.microbatches = microbatches;
    }

    /** Adds the F of the next microbatch of a stage. */
    public Row forward(int stage) {
        return add(stage, Kind.FORWARD, take(stage, Kind.FORWARD));
    }

    /** Adds the B of the next microbatch of a stage. */
    public Row backward(int stage) {
        take(stage, Kind.BACKWARD_WEIGHT);
        return add(stage, Kind.FULL_BACKWARD, take(stage, Kind.BACKWARD_INPUT));
    }

    /** Adds the I of the next microbatch of a stage. */
    public Row backwardInput(int stage) {
        return add(stage, Kind.BACKWARD_INPUT, take(stage, Kind.BACKWARD_INPUT));
    }

    /** Adds the W of the next microbatch of a stage. */
    public Row backwardWeight(int stage) {
        return add(stage, Kind.BACKWARD_WEIGHT, take(stage, Kind.BACKWARD_WEIGHT));
    }

    /** Adds the F of one stage and the B of another as a pair that overlaps. */
    public Row forwardOverBackward(int forwardStage, int backwardStage) {
        pairs.add(actions.size());
        return forward(forwardStage).backward(backwardStage);
    }

    /** Returns the number of actions of a kind for a stage so far; B counts as I and as W. */
    public int count(int stage, Kind kind) {
        return next.getOrDefault(kind, Map.of()).getOrDefault(stage, 0);
    }

    private int take(int stage, Kind kind) {
        return next.computeIfAbsent(kind, unused -> new HashMap<>()).merge(stage, 1, Integer::sum) - 1;
    }

    private Row add(int stage, Kind kind, int microbatch) {
        if (microbatch < microbatches) {
            actions.add(new Action(stage, kind, microbatch));
        }
        return this;
    }

    public static Plan plan(String name, int pipeline, int virtualStages, int microbatches, Placement placement,
            IntFunction<Row> rowOfRank) {
        List<List<Action>> rows = new ArrayList<>();
        Set<Place> overlaps = new HashSet<>();
        for (int rank = 0; rank < pipeline; rank++) {
            Row row = rowOfRank.apply(rank);
            rows.add(row.actions);
            for (int position : row.pairs) {
                overlaps.add(new Place(rank, position));
            }
        }
        return new Plan(name, pipeline, pipeline * virtualStages, microbatches, placement, rows, overlaps);
    }
}
