package dev.troupe.machine;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Which node hosts each rank, which one keeps copies of its snapshots, and of which steps it has them. Who keeps has the two
 * newest of each rank. One thread.
 */
public final class Hosting {
    /** Who keeps copies for whom. */
    @FunctionalInterface
    public interface Keepers {
        /** Nobody keeps copies. */
        Keepers NONE = (_, _) -> Map.of();

        /**
         * For each node with ranks the one that keeps copies of what it has; it lacks those for which there is none.
         *
         * @param hosts
         *            for each rank its node
         * @param present
         *            the nodes that there are
         */
        Map<String, String> of(List<String> hosts, Set<String> present);
    }

    private static final long NO_COPY = -1;

    private final String[] hosts;
    private final Keepers rule;
    private final long firstStep;
    private final Set<String> present = new TreeSet<>();
    // For each node whose ranks are others than at first, the epoch since which it has those.
    private final Map<String, Integer> since = new TreeMap<>();
    // By rank.
    private final String[] keepers;
    private final long[] newest;
    private final long[] older;

    /**
     * @param hosts
     *            for each rank the node that it lives on at first
     * @param firstStep
     *            steps that lie behind the run when it starts: any node can make the weights after so many
     */
    public Hosting(List<String> hosts, Keepers rule, long firstStep) {
        this(hosts, Map.of(), rule, firstStep);
    }

    /**
     * Of a run that is under way.
     *
     * @param since
     *            for each node whose ranks are others than at first, the epoch since which it has those
     */
    public Hosting(List<String> hosts, Map<String, Integer> since, Keepers rule, long firstStep) {
        this.since.putAll(since);
        this.hosts = hosts.toArray(String[]::new);
        this.rule = rule;
        this.firstStep = firstStep;
        this.keepers = new String[hosts.size()];
        this.newest = new long[hosts.size()];
        this.older = new long[hosts.size()];
        Arrays.fill(newest, NO_COPY);
        Arrays.fill(older, NO_COPY);
    }

    /** A node is there. */
    void join(String node) {
        present.add(node);
    }

    /** A node is gone, with what it kept; returns the ranks that lived there. */
    List<Integer> lose(String node) {
        present.remove(node);
        for (int rank = 0; rank < keepers.length; rank++) {
            if (node.equals(keepers[rank])) {
                keep(rank, null);
            }
        }
        return ranks().filter(rank -> hosts[rank].equals(node)).boxed().toList();
    }

    private void keep(int rank, String node) {
        keepers[rank] = node;
        newest[rank] = NO_COPY;
        older[rank] = NO_COPY;
    }

    /** A keeper has the snapshots of a rank after so many steps; others are not heard. */
    void copied(int rank, String keeper, long stepsDone) {
        if (keeper.equals(keepers[rank]) && stepsDone != newest[rank]) {
            older[rank] = newest[rank];
            newest[rank] = stepsDone;
        }
    }

    /**
     * After how many steps ranks that are lost can go on elsewhere: so many as are committed, or one less; empty where no copies
     * are left.
     */
    OptionalLong recoverable(Collection<Integer> lost, long committed) {
        return IntStream.of(0, 1).mapToLong(back -> committed - back)
                .filter(steps -> steps >= firstStep && lost.stream().allMatch(rank -> isAtHand(rank, steps)))
                .findFirst();
    }

    private boolean isAtHand(int rank, long steps) {
        return steps == firstStep ? !present.isEmpty() : newest[rank] == steps || older[rank] == steps;
    }

    /** Ranks that are lost live where their copies are from an epoch on, or on any node where none are needed. */
    void move(Collection<Integer> lost, int epoch) {
        for (int rank : lost) {
            since.put(hosts[rank], epoch);
            hosts[rank] = keepers[rank] == null ? present.iterator().next() : keepers[rank];
            since.put(hosts[rank], epoch);
        }
    }

    /** Chooses keepers anew; returns whether any is another than before. */
    boolean chooseKeepers() {
        boolean isChanged = false;
        Map<String, String> chosen = rule.of(hosts(), present);
        for (int rank = 0; rank < hosts.length; rank++) {
            String keeper = chosen.get(hosts[rank]);
            if (!Objects.equals(keeper, keepers[rank])) {
                keep(rank, keeper);
                isChanged = true;
            }
        }
        return isChanged;
    }

    /** The keepers of these ranks are too slow: nobody keeps copies of them until keepers are chosen again. */
    void giveUpCopies(Collection<Integer> ranks) {
        ranks.forEach(rank -> keep(rank, null));
    }

    /** Ranks whose keeper does not have their snapshots after so many steps. */
    List<Integer> uncopied(long steps) {
        return ranks().filter(rank -> keepers[rank] != null && !isAtHand(rank, steps)).boxed().toList();
    }

    /** For each rank its node. */
    public List<String> hosts() {
        return List.of(hosts);
    }

    /** For each node whose ranks are others than at first, the epoch since which it has those. */
    public Map<String, Integer> since() {
        return Map.copyOf(since);
    }

    /** For each rank the node that keeps copies; empty text for none. */
    List<String> keepers() {
        return Arrays.stream(keepers).map(keeper -> keeper == null ? "" : keeper).toList();
    }

    private IntStream ranks() {
        return IntStream.range(0, hosts.length);
    }
}
