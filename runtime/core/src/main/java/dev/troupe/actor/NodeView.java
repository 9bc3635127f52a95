package dev.troupe.actor;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Commit;
import dev.troupe.protocol.NodeReport;
import dev.troupe.rank.CopyRoutes;
import dev.troupe.snapshot.Snapshots;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/** What a node knows of its run: the epoch, where ranks live, the last commits. Belongs to the node's actor. */
final class NodeView {
    /** Earlier ones are never gone back to. */
    private static final int COMMITS_KNOWN = 3;

    private final String name;
    private final RunPosition position;
    // By their steps; one that the run went back to is told again.
    private final TreeMap<Long, Commit> commits = new TreeMap<>();
    private int epoch;
    // For each rank its node.
    private List<String> hosts = List.of();
    private Map<String, Integer> since = Map.of();
    // Who keeps copies, as was said last.
    private Optional<NodeActor.KeepCopies> buddies = Optional.empty();

    NodeView(String name) {
        this(name, new RunPosition());
    }

    NodeView(String name, RunPosition position) {
        this.name = name;
        this.position = position;
    }

    RunPosition position() {
        return position;
    }

    int epoch() {
        return epoch;
    }

    /** The run begins for this node, which may come late. */
    void begin(NodeActor.HostRanks host) {
        epoch = host.epoch();
        position.enter(epoch);
        hosts = host.hosts();
        since = host.since();
    }

    /** An epoch begins; returns the nodes that had ranks and have lost them. */
    List<String> enter(NodeActor.EnterEpoch enter) {
        List<String> lost = IntStream.range(0, hosts.size())
                .filter(rank -> !hosts.get(rank).equals(enter.hosts().get(rank))).mapToObj(hosts::get).distinct()
                .toList();
        epoch = enter.epoch();
        position.enter(epoch);
        position.reach(enter.stepsDone());
        hosts = enter.hosts();
        since = enter.since();
        return lost;
    }

    void note(Commit commit) {
        commits.put(commit.stepsDone(), commit);
        position.reach(commit.stepsDone());
        if (commits.size() > COMMITS_KNOWN) {
            commits.pollFirstEntry();
        }
    }

    void note(NodeActor.KeepCopies keep) {
        buddies = Optional.of(keep);
    }

    /** Where the copies of each rank go by what was noted last; a buddy that has come to host a rank copies it to nobody. */
    Map<Integer, CopyRoutes.Buddy> routes(ToIntFunction<String> indexOf) {
        NodeActor.KeepCopies keep = buddies.orElseThrow();
        Map<Integer, CopyRoutes.Buddy> routes = new TreeMap<>();
        for (int rank = 0; rank < keep.buddies().size(); rank++) {
            String buddy = keep.buddies().get(rank);
            if (keep.doors().containsKey(buddy) && !buddy.equals(name)) {
                routes.put(rank, new CopyRoutes.Buddy(indexOf.applyAsInt(buddy), keep.doors().get(buddy)));
            }
        }
        return routes;
    }

    /**
     * Ranks whose snapshots are of no use here but for those of the last two commits: they live elsewhere, and others
     * keep copies.
     */
    List<Integer> unwanted() {
        return buddies.stream().flatMap(keep -> IntStream.range(0, hosts.size())
                .filter(rank -> !hosts.get(rank).equals(name) && !keep.buddies().get(rank).equals(name)).boxed())
                .toList();
    }

    /** The ranks that live on this node. */
    List<Integer> ranksHere() {
        return IntStream.range(0, hosts.size()).filter(rank -> hosts.get(rank).equals(name)).boxed().toList();
    }

    /** For a coordinator that takes over. */
    NodeReport report(TrainingPlan plan, Snapshots kept) {
        Map<Integer, List<Long>> versions = new TreeMap<>();
        for (int rank = 0; rank < hosts.size(); rank++) {
            int of = rank;
            // Of what this node was told is committed or not: one that came late was told of few commits.
            versions.put(rank, kept.versions(rank, plan.stagesOf(rank).getFirst()).stream()
                    .filter(steps -> hasAll(plan, kept, of, steps)).toList());
        }
        return new NodeReport(epoch, hosts, since, List.copyOf(commits.values()), versions);
    }

    /** Whether all that a rank kept after so many steps is here. */
    static boolean hasAll(TrainingPlan plan, Snapshots kept, int rank, long stepsDone) {
        return plan.stagesOf(rank).stream().allMatch(stage -> kept.find(rank, stage, stepsDone).isPresent());
    }
}
