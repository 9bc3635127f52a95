package dev.troupe.collective;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The members of a group, and their longest wait for each other.
 *
 * @param name
 *            the kind of the group, for messages: {@code tensor}, {@code data}
 * @param ranks
 *            the ranks of its members, in the order of members
 * @param deadline
 *            longest wait of a collective for another member: longer than any step takes
 */
public record Membership(String name, List<Integer> ranks, Duration deadline) {
    public Membership {
        Objects.requireNonNull(name, "name");
        ranks = List.copyOf(ranks);
        if (ranks.isEmpty()) {
            throw new IllegalArgumentException("a group must have at least one member");
        }
        if (!deadline.isPositive()) {
            throw new IllegalArgumentException("a deadline must be positive, but found " + deadline);
        }
    }

    /** Members of the group. */
    public int size() {
        return ranks.size();
    }

    /** A member as a message names it. */
    public String describe(int member) {
        return "member " + member + " (rank " + ranks.get(member) + ")";
    }

    /** The group as a message names it. */
    public String describe() {
        return "the " + name + " group " + ranks;
    }
}
