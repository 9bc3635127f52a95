package dev.troupe.parallel;

import java.util.Optional;

/**
 * A change of a tensor's type on one axis of ranks. Its backward is the dual move, of the gradient. Immutable.
 */
public record ShardingMove(ShardType from, ShardType to) {
    /** The work of the ranks for a move. */
    public enum Collective {
        /** Nothing: each rank has its part already. */
        NONE("nothing"),
        /** Each rank keeps its own indices, without communication. */
        SLICE("slice"),
        /** Each rank's indices, and zeros elsewhere, are an addend. */
        PAD("zeros elsewhere"),
        /** One rank's copy is the addend, and zeros the others. */
        FIRST("zeros on other ranks"), ALL_REDUCE("all-reduce"), ALL_GATHER("all-gather"), REDUCE_SCATTER(
                "reduce-scatter"), ALL_TO_ALL("all-to-all");

        private final String word;

        Collective(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }
    }

    /** Returns the work for this move; empty if there is no such move. */
    public Optional<Collective> legal() {
        if (from.equals(to)) {
            return Optional.of(Collective.NONE);
        }
        Collective collective = switch (from) {
            case ShardType.Replicated() -> to instanceof ShardType.Cut
                    ? Collective.SLICE
                    : to instanceof ShardType.Invariant ? Collective.NONE : null;
            case ShardType.Invariant() -> switch (to) {
                case ShardType.Replicated() -> Collective.NONE;
                case ShardType.Partial() -> Collective.FIRST;
                case ShardType.Cut(var _) -> Collective.SLICE;
                case ShardType.Invariant(),ShardType.Varying() -> null;
            };
            case ShardType.Partial() -> switch (to) {
                case ShardType.Replicated(),ShardType.Invariant() -> Collective.ALL_REDUCE;
                case ShardType.Cut(var _) -> Collective.REDUCE_SCATTER;
                case ShardType.Partial(),ShardType.Varying() -> null;
            };
            case ShardType.Cut(var _) -> switch (to) {
                case ShardType.Replicated(),ShardType.Invariant() -> Collective.ALL_GATHER;
                case ShardType.Cut(var _) -> Collective.ALL_TO_ALL;
                case ShardType.Partial() -> Collective.PAD;
                case ShardType.Varying() -> null;
            };
            case ShardType.Varying() -> null;
        };
        return Optional.ofNullable(collective);
    }

    /**
     * Returns the work for this move.
     *
     * @throws IllegalArgumentException if there is no such move
     */
    public Collective collective() {
        return legal().orElseThrow(() -> new IllegalArgumentException("there is no move " + text()));
    }

    /** Returns the backward of this move. */
    public ShardingMove dual() {
        return new ShardingMove(to.dual(), from.dual());
    }

    /**
     * Returns the elements that each rank sends for a tensor, as a ring does (exact if the ranks divide them evenly).
     *
     * @param elements of the whole tensor
     * @param ranks of the axis
     */
    public long sentElements(long elements, int ranks) {
        long ofOneRing = elements * (ranks - 1) / ranks;
        return switch (collective()) {
            case NONE, SLICE, PAD, FIRST -> 0;
            case ALL_REDUCE -> 2 * ofOneRing;
            case ALL_GATHER, REDUCE_SCATTER -> ofOneRing;
            case ALL_TO_ALL -> ofOneRing / ranks;
        };
    }

    /** Returns the move in the words of a plan. */
    public String text() {
        return from.text() + " -> " + to.text();
    }
}
