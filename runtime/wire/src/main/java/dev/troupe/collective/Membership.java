package dev.troupe.collective;

import dev.troupe.wire.StreamIds;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The members of a group, and the deadline for their calls.
 *
 * @param name the kind of the group in messages: {@code tensor}, {@code data}
 * @param ranks the ranks of the members, in order
 * @param deadline the longest wait of a collective for another member, longer than any step
 */
public record Membership(String name, List<Integer> ranks, Duration deadline) {
    /** The most members of a group that spans processes, one for each bit of a word. */
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

    public int size() {
        return ranks.size();
    }

    public String describe(int member) {
        return "member " + member + " (rank " + ranks.get(member) + ")";
    }

    /**
     * Returns a description of the members that missed the {@link #deadline}; an empty list means that the member is
     * unknown.
     */
    public String describeAbsence(List<Integer> absent) {
        String who = absent.isEmpty()
                ? "somebody of " + describe() + " who does not read what is sent"
                : absent.stream().map(this::describe).collect(Collectors.joining(" and "));
        return who + String.format(Locale.ROOT, " did not come within %.3g s", deadline.toNanos() / 1e9);
    }

    /** Returns the group's description for messages. */
    public String describe() {
        return "the " + name + " group " + ranks;
    }
}
