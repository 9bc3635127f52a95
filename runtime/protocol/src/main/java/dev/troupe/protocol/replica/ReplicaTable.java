package dev.troupe.protocol.replica;

import dev.troupe.protocol.FixedOrder;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The table of each rank's host, buddy and copies. A buddy has the two newest snapshots of a rank; a former buddy still has
 * the snapshots of the last two commits. One thread.
 */
public final class ReplicaTable {
    /** The rule that gives each node with ranks a buddy. */
    @FunctionalInterface
    public interface Buddies {
        /** No node keeps copies. */
        Buddies NONE = (_, _) -> Map.of();

        /** Returns the buddy of each node with ranks; nodes without a buddy are left out. */
        Map<String, String> of(List<String> hosts, Set<String> present);
    }

    /** The steps done of a node's two copies, by its last reports. */
    private record Copies(long newest, long older) {
        static final Copies NONE = new Copies(-1, -1);

        Copies plus(long steps) {
            return steps == newest ? this : new Copies(steps, newest);
        }

        boolean has(long steps) {
            return steps == newest || steps == older;
        }
    }

    private final String[] hosts;
    private final Buddies rule;
    private final long firstStep;
    private final Set<String> present = new TreeSet<>();
    // For each node that has gained or lost ranks, the epoch of the change.
    private final Map<String, Integer> since = new TreeMap<>();
    // By rank: the node that is to keep copies, and the nodes that have copies.
    private final String[] buddies;
    private final List<Map<String, Copies>> copies;

    /**
     * @param hosts the first node of each rank
     * @param firstStep steps done at the start of the run; every node can create these weights
     */
    public ReplicaTable(List<String> hosts, Buddies rule, long firstStep) {
        this(hosts, Map.of(), rule, firstStep);
    }

    /**
     * Creates the table of a run in progress.
     *
     * @param since for each node that has gained or lost ranks, the epoch of the change
     */
    public ReplicaTable(List<String> hosts, Map<String, Integer> since, Buddies rule, long firstStep) {
        this.since.putAll(since);
        this.hosts = hosts.toArray(String[]::new);
        this.rule = rule;
        this.firstStep = firstStep;
        this.buddies = new String[hosts.size()];
        this.copies = hosts.stream().map(_ -> (Map<String, Copies>) new TreeMap<String, Copies>()).toList();
    }

    /**
     * Adds a node.
     *
     * @param versions for each rank, the commits (as steps done, ascending) of which the node has the complete state
     */
    public void join(String node, Map<Integer, List<Long>> versions) {
        present.add(node);
        versions.forEach((rank, all) -> all.forEach(steps -> copied(rank, node, steps)));
    }

    /** Removes a node with its copies; returns the ranks that lived there. */
    public List<Integer> lose(String node) {
        present.remove(node);
        copies.forEach(byNode -> byNode.remove(node));
        Arrays.setAll(buddies, rank -> node.equals(buddies[rank]) ? null : buddies[rank]);
        return ranks().filter(rank -> hosts[rank].equals(node)).boxed().toList();
    }

    /** Records a copy of a rank on a present node; the snapshots of the rank's own host are no copies. */
    public void copied(int rank, String node, long stepsDone) {
        if (present.contains(node) && !node.equals(hosts[rank])) {
            copies.get(rank).merge(node, Copies.NONE.plus(stepsDone), (had, _) -> had.plus(stepsDone));
        }
    }

    /**
     * Returns the steps done of the commit from which lost ranks can continue on other nodes, the last one or the one
     * before; empty if copies are missing.
     *
     * @param stepsPerPass steps from one commit to the next
     */
    public OptionalLong recoverable(Collection<Integer> lost, long committed, int stepsPerPass) {
        return IntStream.of(0, stepsPerPass).mapToLong(back -> committed - back)
                .filter(steps -> steps >= firstStep && lost.stream().allMatch(rank -> isAtHand(rank, steps)))
                .findFirst();
    }

    private boolean isAtHand(int rank, long steps) {
        return holders(rank, steps).findAny().isPresent();
    }

    /** Returns the nodes on which a rank can start after {@code steps} steps, its buddy first. */
    private Stream<String> holders(int rank, long steps) {
        return present.stream().filter(node -> has(node, rank, steps))
                .sorted(Comparator.comparing(node -> !node.equals(buddies[rank])));
    }

    private boolean has(String node, int rank, long steps) {
        return steps == firstStep || copies.get(rank).getOrDefault(node, Copies.NONE).has(steps);
    }

    /**
     * Moves lost ranks to nodes that can start them after {@code steps} steps, from {@code epoch} on; see {@link
     * #recoverable}.
     */
    public void move(Collection<Integer> lost, long steps, int epoch) {
        for (int rank : lost) {
            since.put(hosts[rank], epoch);
            hosts[rank] = holders(rank, steps).findFirst().orElseThrow();
            copies.get(rank).remove(hosts[rank]); // its own from now on
            since.put(hosts[rank], epoch);
        }
    }

    /** Chooses buddies anew; returns whether any has changed. */
    public boolean chooseBuddies() {
        Map<String, String> chosen = rule.of(hosts(), present);
        List<String> before = buddies();
        Arrays.setAll(buddies, rank -> chosen.get(hosts[rank]));
        return !buddies().equals(before);
    }

    /**
     * Gives up the copies of these ranks, since their buddies are too slow; the run waits for none until buddies are chosen
     * again.
     */
    public void giveUpCopies(Collection<Integer> ranks) {
        ranks.forEach(rank -> buddies[rank] = null);
    }

    /** Returns the ranks with a buddy that does not have their snapshots after {@code steps} steps. */
    public List<Integer> uncopied(long steps) {
        return ranks().filter(rank -> buddies[rank] != null && !has(buddies[rank], rank, steps)).boxed().toList();
    }

    public List<String> hosts() {
        return List.of(hosts);
    }

    /** Returns for each node that has gained or lost ranks the epoch of the change. */
    public Map<String, Integer> since() {
        return FixedOrder.copyOf(since);
    }

    /** Returns for each rank the node that keeps copies; empty text for none. */
    public List<String> buddies() {
        return Arrays.stream(buddies).map(buddy -> buddy == null ? "" : buddy).toList();
    }

    private IntStream ranks() {
        return IntStream.range(0, hosts.length);
    }
}
