package dev.troupe.schedule.search;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A way to train a layer on N devices: pipeline stages, and within a stage a decision tree over its devices. Each level
 * of the tree is one kind of parallelism of a degree of 2 or more; the first level is the outermost, on the slowest
 * links. A kind occurs once at most.
 *
 * <p>Source: Miao et al., Galvatron, 2022, section 3.1.
 *
 * @param pipeline number of pipeline stages, P
 * @param levels the levels of the tree, from the root
 * @param recomputes whether forwards are computed again for the backward
 */
public record Strategy(int pipeline, List<Level> levels, boolean recomputes) {
    public Strategy {
        levels = List.copyOf(levels);
    }

    /** The kind of parallelism of a level. */
    public enum Way {
        /** Data parallelism: every device has all weights. */
        DATA,
        /** Data parallelism with sharded weights, ZeRO 3. */
        SHARDED_DATA,
        /** Tensor parallelism. */
        TENSOR
    }

    /** A level of a tree: its kind and its degree. */
    public record Level(Way way, int degree) {
    }

    /**
     * Returns all strategies for a number of devices, P ascending.
     *
     * @param devices N, a power of 2
     * @param mixesData whether a tree may have both kinds of data parallelism; sharded data alone is never worse
     * @param recomputes whether each strategy also occurs with recomputation
     */
    public static List<Strategy> all(int devices, boolean mixesData, boolean recomputes) {
        if (Integer.bitCount(devices) != 1) {
            throw new IllegalArgumentException("decision trees are for a power of 2 of devices, not for " + devices);
        }
        List<Strategy> all = new ArrayList<>();
        for (int pipeline = 1; pipeline <= devices; pipeline *= 2) {
            grow(pipeline, devices / pipeline, List.of(), mixesData, recomputes, all); // exact: powers of 2
        }
        return all;
    }

    private static void grow(int pipeline, int leaves, List<Level> levels, boolean mixesData, boolean recomputes,
            List<Strategy> all) {
        if (leaves == 1) {
            all.add(new Strategy(pipeline, levels, false));
            if (recomputes) {
                all.add(new Strategy(pipeline, levels, true));
            }
            return;
        }
        for (Way way : Way.values()) {
            if (levels.stream().anyMatch(level -> excludes(level.way(), way, mixesData))) {
                continue;
            }
            for (int degree = 2; degree <= leaves; degree *= 2) {
                List<Level> longer = new ArrayList<>(levels);
                longer.add(new Level(way, degree));
                grow(pipeline, leaves / degree, longer, mixesData, recomputes, all); // exact: powers of 2
            }
        }
    }

    private static boolean excludes(Way one, Way other, boolean mixesData) {
        return one == other || !mixesData && one != Way.TENSOR && other != Way.TENSOR;
    }

    /** Such as {@code P2 SHARDED_DATA2 TENSOR4 recompute}. */
    @Override
    public String toString() {
        String tree = levels.stream().map(level -> " " + level.way() + level.degree()).collect(Collectors.joining());
        return "P" + pipeline + tree + (recomputes ? " recompute" : "");
    }
}
