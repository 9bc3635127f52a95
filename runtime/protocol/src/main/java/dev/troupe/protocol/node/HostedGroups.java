package dev.troupe.protocol.node;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The groups of ranks on a node, from their start until their memory is freed. */
final class HostedGroups {
    private final List<List<Integer>> tensorGroups;
    private final Map<Integer, RankGroup> atWork = new TreeMap<>();
    private final List<RankGroup> givenUp = new ArrayList<>();
    /** The groups, at work or given up, that have not ended. */
    private final Set<RankGroup> running = new LinkedHashSet<>();

    HostedGroups(List<List<Integer>> tensorGroups) {
        this.tensorGroups = tensorGroups;
    }

    List<RankGroup> start(List<Integer> ranks, int epoch, int term) {
        List<RankGroup> started = new ArrayList<>();
        for (List<Integer> members : tensorGroups) {
            List<Integer> here = members.stream().filter(ranks::contains).toList();
            if (!here.isEmpty()) {
                RankGroup group = new RankGroup(members.getFirst(), epoch, term, here);
                if (atWork.putIfAbsent(group.firstRank(), group) != null) {
                    throw new IllegalStateException(group + " starts before " + atWork.get(group.firstRank())
                            + " is given up");
                }
                running.add(group);
                started.add(group);
            }
        }
        return started;
    }

    /** Gives up each group with one of these ranks. */
    List<RankGroup> giveUp(List<Integer> ranks) {
        List<RankGroup> ends = atWork.values().stream()
                .filter(group -> group.ranks().stream().anyMatch(ranks::contains))
                .toList();
        atWork.values().removeAll(ends);
        givenUp.addAll(ends);
        return ends;
    }

    boolean isAtWork(RankGroup group) {
        return atWork.containsValue(group);
    }

    List<Integer> ranksAtWork() {
        return atWork.values().stream().flatMap(group -> group.ranks().stream()).toList();
    }

    void ended(RankGroup group) {
        running.remove(group);
    }

    void allEnded() {
        running.clear();
    }

    Set<RankGroup> running() {
        return running;
    }

    /** Returns the groups that were given up and have ended. */
    List<RankGroup> toFree() {
        return givenUp.stream().filter(group -> !running.contains(group)).toList();
    }

    void freed(RankGroup group) {
        givenUp.remove(group);
    }

    boolean areFree() {
        return givenUp.isEmpty();
    }
}
