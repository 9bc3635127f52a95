package dev.troupe.plan.planner;

import dev.troupe.model.ModelSpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import dev.troupe.plan.profile.LayoutByCosts;
import dev.troupe.schedule.search.BalancedPartition;
import dev.troupe.schedule.search.Borders;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The partitions that are candidates, each once: uniform, by parameters, and the ones of which the longest stage is as short
 * as possible on machines of given speeds. A partition that another one names already is left out.
 *
 * <p>Source: Huang et al., GPipe, 2019, section 2.2.
 */
final class Layouts {
    private final ModelSpec model;
    private final Optimizer optimizer;
    private final Map<String, Optional<Cut>> cuts = new HashMap<>();

    Layouts(ModelSpec model, Optimizer optimizer) {
        this.model = model;
        this.optimizer = optimizer;
    }

    /** Returns the partition of a layout; empty if the model cannot be cut so. */
    Optional<Cut> cut(int stageCount, String layout) {
        return cuts.computeIfAbsent(stageCount + " " + layout, _ -> {
            try {
                return Optional.of(Cut.of(Partition.of(model, stageCount, layout), optimizer));
            } catch (IllegalArgumentException _) {
                return Optional.empty();
            }
        });
    }

    /**
     * Returns the layouts of a number of stages; none if there are more stages than layers.
     *
     * @param layers the times of each layer
     * @param speeds for each placement of the stages the speed of the machine of each
     */
    List<String> of(int stageCount, List<StageCost> layers, List<double[]> speeds) {
        if (stageCount > layers.size()) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        List<Partition> seen = new ArrayList<>();
        List<String> all = new ArrayList<>(List.of(Partition.UNIFORM, Partition.PARAMETERS));
        speeds.forEach(each -> all.add(balanced(stageCount, layers, each)));
        for (String name : all) {
            cut(stageCount, name).map(Cut::partition).filter(partition -> !seen.contains(partition))
                    .ifPresent(partition -> {
                        seen.add(partition);
                        names.add(name);
                    });
        }
        return names;
    }

    private String balanced(int stageCount, List<StageCost> layers, double[] speeds) {
        long[] before = new long[layers.size() + 1];
        for (int layer = 0; layer < layers.size(); layer++) {
            before[layer + 1] = before[layer] + layers.get(layer).forwardNanos()
                    + layers.get(layer).fullBackwardNanos();
        }
        Borders borders = BalancedPartition
                .of(layers.size(), stageCount, (stage, first, end) -> Math.round(
                        (before[end] - before[first]) / speeds[stage]))
                .orElseThrow(); // without a limit there always is one
        return LayoutByCosts.partition(model, borders).layout();
    }
}
