package dev.troupe.plan.planner;

import dev.troupe.config.group.Coordinates;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.schedule.simulator.Hop;

/**
 * The links of ranks that fill machines in the order of their numbers: tensor fastest, then data, then pipeline, so that
 * ranks that exchange most are nearest.
 *
 * <p>Source: Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, 2021, section 3.2.
 */
record RankLinks(ParallelLayout ranks, MachineFigures figures) {
    static RankLinks of(PlanGrid grid, MachineFigures figures) {
        return new RankLinks(new ParallelLayout(grid.pipeline(), grid.data(), grid.tensor()), figures);
    }

    /** Returns the link of tensor-parallel groups: the one between machines if any group is split among machines. */
    GroupLink tensor() {
        boolean isWithin = figures.nodeRanks() % ranks.tensor() == 0 || ranks.worldSize() <= figures.nodeRanks();
        return new GroupLink(ranks.tensor(), isWithin ? figures.inside() : figures.between());
    }

    /** Returns the link of the ranks of a place that hold the same weights. */
    GroupLink data(int place) {
        int last = ranks.rank(new Coordinates(place, ranks.data() - 1, ranks.tensor() - 1));
        int first = ranks.rank(new Coordinates(place, 0, 0));
        return new GroupLink(ranks.data(), machine(first) == machine(last) ? figures.inside() : figures.between());
    }

    /** Returns the slowest link from one place of the pipelines to another. */
    Hop between(int fromPlace, int toPlace) {
        for (int data = 0; data < ranks.data(); data++) {
            for (int tensor = 0; tensor < ranks.tensor(); tensor++) {
                if (machine(ranks.rank(new Coordinates(fromPlace, data, tensor))) != machine(
                        ranks.rank(new Coordinates(toPlace, data, tensor)))) {
                    return figures.between();
                }
            }
        }
        return figures.inside();
    }

    private int machine(int rank) {
        return rank / figures.nodeRanks(); // rounded down
    }
}
