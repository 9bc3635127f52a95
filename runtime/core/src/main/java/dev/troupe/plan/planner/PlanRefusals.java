package dev.troupe.plan.planner;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;

/** The refused candidates by kind: their number, and of each kind the reason of the one that was nearest. */
public final class PlanRefusals {
    private final Map<Kind, Refusal> byKind = new EnumMap<>(Kind.class);

    /** The kind of a refusal. */
    public enum Kind {
        /** Ranks cannot share a layer, or stages cannot have one each. */
        MODEL("model"),
        /** The profile is of another microbatch size or T. */
        PROFILE("profile"),
        /** A schedule is not defined for the grid, or a setting excludes it. */
        SCHEDULE("schedule"),
        /** A rank needs more memory than it may. */
        MEMORY("memory"),
        /** The step cannot be shorter than those that were found. */
        BOUND("bound"),
        /** The simulated step is longer than those that were found. */
        SLOWER("slower");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        /** Returns the kind in a table. */
        public String word() {
            return word;
        }
    }

    /**
     * The refusals of a kind.
     *
     * @param count number of candidates
     * @param nearest what the nearest one exceeds by, in the unit of the kind
     * @param reason why the nearest one was refused
     */
    public record Refusal(long count, long nearest, String reason) {
    }

    /**
     * Counts a refusal.
     *
     * @param count number of candidates
     * @param excess how far the candidate is from being accepted
     */
    void add(Kind kind, long count, long excess, Supplier<String> reason) {
        Refusal before = byKind.get(kind);
        if (before == null || excess < before.nearest()) {
            byKind.put(kind, new Refusal(count + (before == null ? 0 : before.count()), excess, reason.get()));
        } else {
            byKind.put(kind, new Refusal(before.count() + count, before.nearest(), before.reason()));
        }
    }

    /** Returns the refusals by kind. */
    public Map<Kind, Refusal> byKind() {
        return Map.copyOf(byKind);
    }
}
