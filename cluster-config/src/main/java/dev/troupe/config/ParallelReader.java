package dev.troupe.config;

import dev.troupe.config.spec.OverlapSpec;
import dev.troupe.config.spec.ParallelSpec;
import java.util.List;
import java.util.Set;

/** Reads {@code parallel}: the grid of ranks, the schedule and its replicas. */
final class ParallelReader {
    // Far above the largest clusters, and small enough that the product of any two fits an int.
    static final int MOST_RANKS = 4096;
    // Every process has the actions of all steps from one flush of the pipeline to the next.
    private static final int MOST_STEPS_PER_FLUSH = 1024;

    /** The schedules that hold two stages on each rank, there and back. */
    private static final Set<String> THERE_AND_BACK = Set.of("zbv", "dualpipev", "v-half", "v-min");

    private ParallelReader() {
    }

    /** Reads the keys, and reports numbers that do not fit one another. */
    static ParallelSpec read(Values values) {
        String schedule = values.text("parallel.schedule", RunSpecReader.NOT_EMPTY,
                "the name of a schedule, such as 1f1b");
        ParallelSpec spec = new ParallelSpec(values.integer("parallel.pipeline", 1, MOST_RANKS),
                values.integer("parallel.tensor", 1, MOST_RANKS), values.integer("parallel.data", 1, MOST_RANKS),
                values.flag("parallel.sequence"), virtualStages(values, schedule),
                schedule,
                values.text("parallel.layout", RunSpecReader.NOT_EMPTY, "uniform, parameters or a layout string"),
                values.flag("parallel.split-cool-down"),
                new OverlapSpec(values.integer("parallel.flush-every", 0, MOST_STEPS_PER_FLUSH),
                        values.word("parallel.updates", OverlapSpec.Updates.class, ""),
                        values.integer("parallel.warm-up", 1, 2)),
                replicas(values));
        checkWorld(values, spec);
        return spec;
    }

    /** Returns the stages of a rank: unless given, two under a schedule that has no other number. */
    private static int virtualStages(Values values, String schedule) {
        int stages = values.integer("parallel.virtual-stages", 1, MOST_RANKS);
        return !values.isGiven("parallel.virtual-stages") && THERE_AND_BACK.contains(schedule) ? 2 : stages;
    }

    private static List<Integer> replicas(Values values) {
        List<Integer> replicas = values.integers("parallel.replicas", 1, MOST_RANKS);
        int pipeline = values.integer("parallel.pipeline", 1, MOST_RANKS);
        if (!replicas.isEmpty() && values.sound("parallel.pipeline") && replicas.size() != pipeline) {
            values.report("parallel.replicas", "a number of ranks for each of the parallel.pipeline = " + pipeline
                    + " stages, or [] for one each", "" + replicas, "change one of them");
            return List.of();
        }
        return replicas;
    }

    private static void checkWorld(Values values, ParallelSpec parallel) {
        long world = parallel.replicas().isEmpty()
                ? (long) parallel.pipeline() * parallel.data() * parallel.tensor()
                : parallel.replicas().stream().mapToLong(Integer::longValue).sum() * parallel.tensor();
        if (values.sound("parallel.pipeline", "parallel.data", "parallel.tensor")
                && world > RunSpecReader.MOST_RANKS_IN_ALL) {
            values.report("parallel.pipeline",
                    "at most " + RunSpecReader.MOST_RANKS_IN_ALL + " ranks in all, pipeline x data x tensor",
                    (parallel.replicas().isEmpty()
                            ? parallel.pipeline() + " x " + parallel.data() + " x " + parallel.tensor()
                            : "replicas " + parallel.replicas()) + " = " + world,
                    "take fewer");
        }
    }
}
