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
        return new GroupLink(ranks.tensor(), isWithin
                ? figures.inside()
                : ring(0, figures.measured().isEmpty() ? 1 : machine(ranks.worldSize() - 1)));
    }

    /** Returns the link of the ranks of a place that hold the same weights. */
    GroupLink data(int place) {
        int last = ranks.rank(new Coordinates(place, ranks.data() - 1, ranks.tensor() - 1));
        int first = ranks.rank(new Coordinates(place, 0, 0));
        return new GroupLink(ranks.data(), ring(machine(first), machine(last)));
    }

    /** Returns the slowest link from one place of the pipelines to another. */
    Hop between(int fromPlace, int toPlace) {
        Hop slowest = null;
        for (int data = 0; data < ranks.data(); data++) {
            for (int tensor = 0; tensor < ranks.tensor(); tensor++) {
                int from = machine(ranks.rank(new Coordinates(fromPlace, data, tensor)));
                int to = machine(ranks.rank(new Coordinates(toPlace, data, tensor)));
                if (from != to && figures.measured().isEmpty()) {
                    return figures.between();
                }
                Hop way = figures.way(from, to);
                slowest = slowest == null ? way : slower(slowest, way);
            }
        }
        return slowest;
    }

    /** Returns the speed of the slowest machine of a place. */
    double speed(int place) {
        int first = machine(ranks.rank(new Coordinates(place, 0, 0)));
        int last = machine(ranks.rank(new Coordinates(place, ranks.data() - 1, ranks.tensor() - 1)));
        double speed = 1;
        for (int machine = first; machine <= last; machine++) {
            speed = Math.min(speed, figures.speed(machine));
        }
        return speed;
    }

    /** Returns the slowest link of a ring through machines, in the order of their numbers. */
    private Hop ring(int first, int last) {
        if (first == last || figures.measured().isEmpty()) {
            return figures.way(first, last);
        }
        Hop slowest = figures.way(last, first);
        for (int machine = first; machine < last; machine++) {
            slowest = slower(slowest, figures.way(machine, machine + 1));
        }
        return slowest;
    }

    /** Returns a link with the greater latency and the smaller bandwidth of two. */
    static Hop slower(Hop one, Hop other) {
        return new Hop(Math.max(one.latencyNanos(), other.latencyNanos()),
                Math.min(one.bytesPerSecond(), other.bytesPerSecond()));
    }

    private int machine(int rank) {
        return rank / figures.nodeRanks(); // rounded down
    }
}
