package dev.troupe.plan.planner;

import dev.troupe.config.spec.MemorySpec.Recompute;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.Schedules;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The candidates of a plan, in two levels: grids, and for each grid its schedules, partitions and ways to save memory. All
 * stages of a candidate are parallel in the same way.
 *
 * <p>Source: Miao et al., Galvatron, 2022, section 3.1: pipelines first, and data parallelism either plain or sharded.
 * Degrees need not be powers of two.
 *
 * @param nodeRanks ranks of a machine: the most that share a stage
 * @param microbatchSize the size that the user has
 */
record SearchSpace(ModelSpec model, PlanRequest request, int nodeRanks, int microbatchSize) {
    /** Ranks up to which every degree is a candidate; above it, the ones that fill the ranks. */
    private static final int MOST_EXHAUSTIVE = 64;
    private static final List<Integer> MICROBATCH_SIZES = List.of(1, 2, 4, 8);
    private static final List<Integer> VIRTUAL_STAGES = List.of(1, 2, 4);
    /** The schedule of one rank, for which all are alike. */
    private static final String OF_ONE_RANK = "1f1b";
    private static final int MOST_ZERO = 3;

    /** Returns all grids. */
    List<PlanGrid> grids() {
        List<PlanGrid> grids = new ArrayList<>();
        TreeSet<Integer> sizes = new TreeSet<>(MICROBATCH_SIZES);
        sizes.add(microbatchSize);
        for (int pipeline : pipelines()) {
            for (int tensor = 1; tensor <= Math.min(nodeRanks, request.ranks() / pipeline); tensor++) {
                for (int size : sizes) {
                    if (model.size(Axis.HEADS) % tensor == 0 && request.batchSize() % size == 0) {
                        grids.addAll(grids(pipeline, tensor, size));
                    }
                }
            }
        }
        return grids;
    }

    private List<PlanGrid> grids(int pipeline, int tensor, int size) {
        int microbatches = request.batchSize() / size; // exact
        int most = request.ranks() / (pipeline * tensor); // rounded down
        int least = request.ranks() <= MOST_EXHAUSTIVE ? 1 : Math.max(1, Math.ceilDiv(most, 2));
        return IntStream.rangeClosed(least, Math.min(most, microbatches)).filter(data -> microbatches % data == 0)
                .mapToObj(data -> new PlanGrid(pipeline, tensor, data, size, microbatches / data)).toList(); // exact
    }

    /** Returns the lengths of pipelines: all short ones, and longer ones that divide the blocks or are powers of two. */
    private List<Integer> pipelines() {
        int most = Math.min(request.ranks(), model.blockCount() + 2);
        return IntStream.rangeClosed(1, most).filter(pipeline -> pipeline <= MOST_EXHAUSTIVE / 4
                || model.blockCount() % pipeline == 0 || Integer.bitCount(pipeline) == 1).boxed().toList();
    }

    /**
     * Returns the candidates of a grid: those that need less memory after those that need more, if they are alike else.
     *
     * @param layouts the layouts of a number of stages
     */
    List<PlanChoice> choices(PlanGrid grid, IntFunction<List<String>> layouts) {
        List<PlanChoice> choices = new ArrayList<>();
        for (Order order : orders(grid)) {
            for (String layout : layouts.apply(grid.pipeline() * order.virtualStages())) {
                for (boolean sharesSequence : grid.tensor() > 1 ? List.of(false, true) : List.of(false)) {
                    choices.addAll(savers(grid, order, layout, sharesSequence));
                }
            }
        }
        return choices;
    }

    /** A schedule with its number of stages on a rank. */
    private record Order(String schedule, int virtualStages, int warmUp) {
    }

    private List<Order> orders(PlanGrid grid) {
        if (grid.pipeline() == 1) {
            return List.of(new Order(OF_ONE_RANK, 1, 1));
        }
        List<Order> orders = new ArrayList<>();
        for (String schedule : Schedules.names()) {
            int usual = Schedules.named(schedule).usualVirtualStages();
            for (int virtualStages : VIRTUAL_STAGES) {
                // Only schedules that are made for several stages have other numbers of them.
                if (virtualStages == usual || usual > 1 && virtualStages > usual) {
                    orders.add(new Order(schedule, virtualStages, 1));
                }
            }
        }
        if (request.overlapsSteps()) {
            orders.add(new Order(PipeDream2Bw.NAME, 1, 1));
            orders.add(new Order(PipeDream2Bw.NAME, 1, 2));
        }
        return orders.stream().filter(order -> order.virtualStages() * grid.pipeline() <= model.blockCount() + 2)
                .toList();
    }

    private static List<PlanChoice> savers(PlanGrid grid, Order order, String layout, boolean sharesSequence) {
        int most = grid.data() == 1 ? 0 : Schedules.overlapsSteps(order.schedule()) ? 1 : MOST_ZERO;
        List<PlanChoice> savers = new ArrayList<>();
        for (int zero = 0; zero <= most; zero++) {
            for (Recompute recompute : Recompute.values()) {
                for (boolean ahead : recompute == Recompute.FULL && grid.pipeline() > 1
                        ? List.of(true, false)
                        : List.of(false)) {
                    savers.add(new PlanChoice(grid, order.schedule(), order.virtualStages(), order.warmUp(), layout,
                            zero, sharesSequence, recompute, ahead));
                }
            }
        }
        return savers;
    }
}
