package dev.troupe.protocol.node;

import java.util.List;

/**
 * The ranks of a tensor-parallel group that a node hosts, from one start to the next.
 *
 * @param firstRank the first rank of the whole group, which may live on another node
 * @param epoch the epoch in which the ranks were started
 * @param term the term of the coordinator that its ranks obey
 * @param ranks the members on this node, in order
 */
public record RankGroup(int firstRank, int epoch, int term, List<Integer> ranks) {
    public RankGroup {
        ranks = List.copyOf(ranks);
    }
}
