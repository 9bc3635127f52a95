package dev.troupe.collective;

import dev.troupe.wire.StreamIds;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The members of a group, and their longest wait for each other.
 *
 * @param name the kind of the group, for messages: {@code tensor}, {@code data}
 * @param ranks the ranks of its members, in the order of members
 * @param deadline longest wait of a collective for another member: longer than any step takes
 */
public record Membership(String name, List<Integer> ranks, Duration deadline) {
    /** The most members of a group between processes, which has a bit of a word for each. */
    public static final int MOST_BETWEEN_PROCESSES = StreamIds.MOST_MEMBERS;

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

    /** Describes members that were absent at the {@link #deadline}, or somebody if none are named. */
    public String describeAbsence(List<Integer> absent) {
        String who = absent.isEmpty()
                ? "somebody of " + describe() + " who does not read what is sent"
                : absent.stream().map(this::describe).collect(Collectors.joining(" and "));
        return who + String.format(Locale.ROOT, " did not come within %.3g s", deadline.toNanos() / 1e9);
    }

    /** The group as a message names it. */
    public String describe() {
        return "the " + name + " group " + ranks;
    }
}
