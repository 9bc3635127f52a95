package dev.troupe.rank.idle;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The times of all ranks in one step.
 *
 * @param rows the plan that the ranks did
 * @param ranks the times of every rank of the world, by its number
 * @param nodes for each rank the node that it lived on when the step was committed
 * @param lengths by the number of a microbatch in the step, over all pipelines, the tokens of its sequences; 0 for the
 *     longest of the run; empty if all have the same length
 * @param previousEndNanos the end of the step before, if the run continued from it; 0 if it did not
 * @param between the cause of the time between the two steps
 */
public record StepTimes(long step, Rows rows, List<RankTimes> ranks, List<String> nodes, int[] lengths,
        long previousEndNanos, Cause between) {
    public StepTimes {
        nodes = List.copyOf(nodes);
    }

    /** The lengths of the microbatches of a run's steps. */
    @FunctionalInterface
    public interface Lengths {
        /** The lengths of a run with microbatches of equal length. */
        Lengths EQUAL = _ -> new int[0];

        /** Returns the lengths in a step, as in {@link StepTimes#lengths}. */
        int[] of(long step);
    }

    /** Creates a step with microbatches of equal length. */
    public StepTimes(long step, Rows rows, List<RankTimes> ranks, List<String> nodes, long previousEndNanos,
            Cause between) {
        this(step, rows, ranks, nodes, Lengths.EQUAL.of(step), previousEndNanos, between);
    }

    /** Returns the tokens of a sequence in an action of a rank; 0 for the longest, or if it has no microbatch. */
    int length(int rank, Action action) {
        if (lengths.length == 0 || !action.kind().isPerMicrobatch()) {
            return 0;
        }
        int count = rows.plan().microbatchCount();
        int pipeline = rank % rows.ranksPerPlace() / rows.tensor();
        return lengths[pipeline * count + action.microbatch() % count];
    }

    /**
     * The rows of a plan, with the place of every action.
     *
     * @param data number of pipelines, D
     * @param tensor number of ranks that share a stage, T
     * @param places the place of each action; for an action that each replica of a stage does once in a step, the place in
     *     one of their rows
     */
    public record Rows(Plan plan, int data, int tensor, Map<Action, Place> places) {
        public static Rows of(Plan plan, int data, int tensor) {
            Map<Action, Place> places = new HashMap<>();
            for (int rank = 0; rank < plan.rankCount(); rank++) {
                List<Action> row = plan.rows().get(rank);
                for (int position = 0; position < row.size(); position++) {
                    places.put(row.get(position), new Place(rank, position));
                }
            }
            return new Rows(plan, data, tensor, Map.copyOf(places));
        }

        /** Returns the number of ranks of the world at each rank of the plan, D x T. */
        public int ranksPerPlace() {
            return data * tensor;
        }

        public List<Action> row(int rank) {
            return plan.rows().get(rank / ranksPerPlace());
        }

        /**
         * Returns the ranks of the world that meet in an action of a rank: the ranks of its stage for an action of a
         * microbatch, those with the same part of the stage for an exchange of gradients or weights, the replicas of a stage
         * for the sum of their gradients, else all ranks of its place.
         */
        IntStream group(int rank, Kind kind) {
            int place = rank / ranksPerPlace(); // rounded down
            int first = place * ranksPerPlace();
            if (kind == Kind.REDUCE_GRAD && plan.placement() instanceof Replicas) {
                return plan.ranksOf(plan.stagesOf(place).getFirst()).stream()
                        .mapToInt(replica -> replica * ranksPerPlace() + rank % ranksPerPlace());
            }
            if (kind.isPerMicrobatch()) {
                return IntStream.range(rank / tensor * tensor, rank / tensor * tensor + tensor);
            }
            return switch (kind) {
                case UNSHARD, RESHARD, REDUCE_GRAD ->
                    IntStream.range(0, data).map(pipeline -> first + pipeline * tensor + rank % tensor);
                default -> IntStream.range(first, first + ranksPerPlace());
            };
        }

        /** Returns the rank of the world at a rank of the plan, in the pipeline of another rank of the world. */
        int inPipelineOf(int rank, int place) {
            return place * ranksPerPlace() + rank % ranksPerPlace();
        }

        /** Returns the position of an action in its row; -1 if the plan lacks it. */
        int position(Action action) {
            Place place = places.get(action);
            return place == null ? -1 : place.position();
        }
    }

    /** Returns the first instant at which a rank received the start of the step. */
    public long beginNanos() {
        return ranks.stream().mapToLong(RankTimes::beginNanos).min().orElse(0);
    }

    /** Returns the start of the time that the step accounts for: the end of the step before if there is one. */
    public long fromNanos() {
        return previousEndNanos == 0 ? beginNanos() : Math.min(previousEndNanos, beginNanos());
    }

    public long endNanos() {
        long end = beginNanos();
        for (RankTimes times : ranks) {
            for (long ended : times.ends()) {
                end = Math.max(end, times.beginNanos() + ended);
            }
        }
        return end;
    }

    /** Returns the position of the last action before a position that a rank did; -1 if there is none. */
    int before(int rank, int position) {
        int at = position - 1;
        while (at >= 0 && !ranks.get(rank).did(at)) {
            at--;
        }
        return at;
    }

    int last(int rank) {
        return before(rank, rows.row(rank).size());
    }

    /** Returns the step of the first pipeline, from the start of its first action. */
    public Timeline timeline(String title) {
        List<Span> spans = new ArrayList<>();
        long origin = Long.MAX_VALUE;
        for (int place = 0; place < rows.plan().rankCount(); place++) {
            RankTimes times = ranks.get(place * rows.ranksPerPlace());
            for (int position = 0; position < rows.row(times.rank()).size(); position++) {
                if (times.did(position)) {
                    origin = Math.min(origin, times.startNanos(position));
                }
            }
        }
        for (int place = 0; place < rows.plan().rankCount(); place++) {
            RankTimes times = ranks.get(place * rows.ranksPerPlace());
            List<Action> row = rows.row(times.rank());
            for (int position = 0; position < row.size(); position++) {
                if (times.did(position)) {
                    spans.add(new Span(place, row.get(position), times.startNanos(position) - origin,
                            times.endNanos(position) - origin));
                }
            }
        }
        return new Timeline(title, rows.plan().rankCount(), rows.plan().stageCount(), spans);
    }

    /**
     * Returns control times: for each action of a rank that had nothing else to do when its tensor landed, the time from the
     * landing to the start of its computing, in nanoseconds, ascending.
     */
    public List<Long> controlNanos() {
        List<Long> control = new ArrayList<>();
        for (RankTimes times : ranks) {
            List<Action> row = rows.row(times.rank());
            long free = Long.MIN_VALUE;
            for (int position = 0; position < row.size(); position++) {
                if (times.did(position)) {
                    Message input = Message.into(this, times.rank(), row.get(position));
                    if (input != null && input.landedNanos() > free) {
                        control.add(Math.max(0, times.startNanos(position) - input.landedNanos()));
                    }
                    free = times.endNanos(position);
                }
            }
        }
        return control.stream().sorted().toList();
    }
}
