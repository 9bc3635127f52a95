package dev.troupe.config.spec;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.config.value.Texts;
import dev.troupe.config.value.Values;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The division of the work over ranks: the section {@code parallel} of the defaults.
 *
 * @param pipeline P, ranks in a pipeline
 * @param tensor T, ranks that share a stage
 * @param data D, parallel pipelines
 * @param expert R, data ranks of a stage that divide its experts
 * @param virtualStages V, stages per rank
 */
public record ParallelSpec(int pipeline, int tensor, int data, int expert, ShardingSpec sharding, int virtualStages,
        String schedule, String layout, boolean splitCoolDown, OverlapSpec overlap) {

    /** The number of ranks that the transport's frames can distinguish. */
    public static final int MOST_RANKS_IN_ALL = 65536;
    // Far above the largest clusters, and small enough that the product of any two fits an int.
    static final int MOST_RANKS = 4096;

    /** The schedules that have two stages on each rank. */
    private static final Set<String> TWO_STAGES = Set.of("zbv", "dualpipev", "v-half", "v-min");

    public ParallelSpec {
        Objects.requireNonNull(sharding, "sharding");
        Objects.requireNonNull(schedule, "schedule");
        Objects.requireNonNull(layout, "layout");
        Objects.requireNonNull(overlap, "overlap");
    }

    /** Reads the section {@code parallel}, and reports numbers that do not fit one another. */
    public static ParallelSpec read(Values values) {
        String schedule = values.text("parallel.schedule", Texts.NOT_EMPTY, "the name of a schedule, such as 1f1b");
        int pipeline = values.integer("parallel.pipeline", 1, MOST_RANKS);
        ParallelSpec spec = new ParallelSpec(pipeline, values.integer("parallel.tensor", 1, MOST_RANKS),
                values.integer("parallel.data", 1, MOST_RANKS), values.integer("parallel.expert", 1, MOST_RANKS),
                ShardingSpec.read(values),
                virtualStages(values, schedule), schedule,
                values.text("parallel.layout", Texts.NOT_EMPTY,
                        "uniform, parameters, measured, costs(...) or a layout string"),
                values.flag("parallel.split-cool-down"), OverlapSpec.read(values, replicas(values, pipeline)));
        spec.checkWorld(values);
        spec.checkExpert(values);
        return spec;
    }

    /** Returns the stages of a rank: unless given, two under a schedule that has no other number. */
    private static int virtualStages(Values values, String schedule) {
        String key = "parallel.virtual-stages";
        int given = values.integer(key, 1, MOST_RANKS);
        int stages = !values.isGiven(key) && TWO_STAGES.contains(schedule) ? 2 : given;
        values.settle(key, stages);
        return stages;
    }

    private static List<Integer> replicas(Values values, int pipeline) {
        List<Integer> replicas = values.integers("parallel.replicas", 1, MOST_RANKS);
        if (!replicas.isEmpty() && values.sound("parallel.pipeline") && replicas.size() != pipeline) {
            values.report("parallel.replicas", "a number of ranks for each of the parallel.pipeline = " + pipeline
                    + " stages, or [] for one each", "" + replicas, "change one of them");
            return List.of();
        }
        return replicas;
    }

    private void checkExpert(Values values) {
        if (values.sound("parallel.data", "parallel.expert") && data % expert != 0) {
            values.report("parallel.expert", "a divisor of parallel.data = " + data
                    + ", since so many data-parallel ranks of a stage have each expert once", "" + expert,
                    "change one of them");
        }
    }

    private void checkWorld(Values values) {
        long world = replicas().isEmpty()
                ? (long) pipeline * data * tensor
                : replicas().stream().mapToLong(Integer::longValue).sum() * tensor;
        if (values.sound("parallel.pipeline", "parallel.data", "parallel.tensor") && world > MOST_RANKS_IN_ALL) {
            values.report("parallel.pipeline",
                    "at most " + MOST_RANKS_IN_ALL + " ranks in all, pipeline x data x tensor",
                    (replicas().isEmpty() ? pipeline + " x " + data + " x " + tensor : "replicas " + replicas()) + " = "
                            + world,
                    "take fewer");
        }
    }

    /** Returns whether the ranks of a tensor-parallel group divide the rows of the residual stream too. */
    public boolean sequence() {
        return sharding.sequence();
    }

    /** Returns the layout: the coordinates and the groups of each rank. */
    public ParallelLayout ranks() {
        return replicas().isEmpty()
                ? new ParallelLayout(pipeline, data, tensor).dividingExperts(expert)
                : new ParallelLayout(pipeline, 1, tensor, replicas(), 1);
    }

    /** Returns the ranks of each stage, which alternate over its microbatches; empty for one each. */
    public List<Integer> replicas() {
        return overlap.replicas();
    }

    /** Returns the world size: P x D x T, or the replicas of all stages. */
    public int worldSize() {
        return ranks().worldSize();
    }

    /** Returns the number of stages of a pipeline: P x V. */
    public int stageCount() {
        return Math.multiplyExact(pipeline, virtualStages);
    }
}
