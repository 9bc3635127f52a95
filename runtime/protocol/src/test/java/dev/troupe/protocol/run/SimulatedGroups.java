package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.node.RankGroup;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The process groups of a run. A collective is a meeting: it is complete once every member has come to it, and its result is
 * made of the contributions, in the order of members. A group is of one epoch of one coordinator, the last joined member's:
 * a member of an earlier one waits for ever.
 */
final class SimulatedGroups {
    /** The contributions to one collective. */
    private static final class Meeting {
        private final String what;
        private final OptionalLong[] brought;

        Meeting(String what, int size) {
            this.what = what;
            this.brought = new OptionalLong[size];
        }

        boolean isWhole() {
            for (OptionalLong one : brought) {
                if (one == null) {
                    return false;
                }
            }
            return true;
        }

        long sum() {
            List<Long> values = new ArrayList<>();
            for (OptionalLong one : brought) {
                values.add(one.getAsLong());
            }
            return SimulatedGroups.sum(values);
        }
    }

    private static final class Group {
        private int term;
        private int epoch;
        private final List<Meeting> meetings = new ArrayList<>();
        private final Map<Integer, Integer> comings = new HashMap<>();

        boolean isOf(RankGroup start) {
            return start.term() == term && start.epoch() == epoch;
        }

        void begin(RankGroup start) {
            if (start.term() > term || start.term() == term && start.epoch() > epoch) {
                term = start.term();
                epoch = start.epoch();
                meetings.clear();
                comings.clear();
            }
        }
    }

    /** One member of a group. */
    final class Member {
        private final List<Integer> ranks;
        private final int rank;
        private final RankGroup start;
        private Meeting last;

        private Member(List<Integer> ranks, int rank, RankGroup start) {
            this.ranks = ranks;
            this.rank = rank;
            this.start = start;
        }

        boolean isAlone() {
            return ranks.size() == 1;
        }

        /** Comes to the next collective of the group. */
        void bring(String what, long value) {
            Group group = groups.get(ranks);
            if (!group.isOf(start) && isFenced) {
                last = null;
                return;
            }
            int number = group.comings.merge(rank, 1, Integer::sum) - 1;
            if (number == group.meetings.size()) {
                group.meetings.add(new Meeting(what, ranks.size()));
            }
            last = group.meetings.get(number);
            assertEquals(last.what, what, () -> "what the members of " + ranks + " do together");
            last.brought[ranks.indexOf(rank)] = OptionalLong.of(value);
        }

        /** Returns whether every member has come to the collective to which this one came last. */
        boolean isWhole() {
            return last != null && last.isWhole();
        }

        /** Returns the sum of all contributions. */
        long sum() {
            return last.sum();
        }
    }

    private final boolean isFenced;
    private final Map<List<Integer>, Group> groups = new HashMap<>();

    /**
     * @param isFenced false to break the protocol: a member of an earlier epoch takes part too
     */
    SimulatedGroups(boolean isFenced) {
        this.isFenced = isFenced;
    }

    /** A rank that starts joins a group. */
    Member join(List<Integer> ranks, int rank, RankGroup start) {
        groups.computeIfAbsent(ranks, _ -> new Group()).begin(start);
        return new Member(ranks, rank, start);
    }

    /** Returns the sum of contributions, in the order of members; a single one is the sum. */
    static long sum(List<Long> values) {
        return values.stream().reduce(SimulatedStage::mix).orElseThrow();
    }
}
