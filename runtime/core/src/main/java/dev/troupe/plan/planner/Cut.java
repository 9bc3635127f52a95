package dev.troupe.plan.planner;

import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import java.util.List;

/**
 * A partition with the sizes of its stages.
 *
 * @param sizes of each stage
 */
record Cut(Partition partition, List<StageSize> sizes) {
    static Cut of(Partition partition, Optimizer optimizer) {
        return new Cut(partition, StageSize.of(partition, optimizer));
    }
}
