package dev.troupe.tokenizer.huggingface;

import java.util.List;
import java.util.function.IntPredicate;

/** A regular expression as a tree. Immutable. */
sealed interface Regex {
    int UNBOUNDED = Integer.MAX_VALUE;

    /** Consecutive code points of a set: at least {@code least}, and further ones of the text up to {@code most}. */
    record Repeat(CodeSet set, int least, int most) implements Regex {
    }

    /** All parts, one after the other. */
    record Sequence(List<Regex> parts) implements Regex {
        public Sequence {
            parts = List.copyOf(parts);
        }
    }

    /** The first branch with which the whole matches. */
    record Choice(List<Regex> branches) implements Regex {
        public Choice {
            branches = List.copyOf(branches);
        }
    }

    /** A condition on the text after a place. */
    record LookAhead(Regex what, boolean negative) implements Regex {
    }

    default boolean canBeEmpty() {
        return switch (this) {
            case Repeat repeat -> repeat.least() == 0;
            case Sequence sequence -> sequence.parts().stream().allMatch(Regex::canBeEmpty);
            case Choice choice -> choice.branches().stream().anyMatch(Regex::canBeEmpty);
            case LookAhead _ -> true;
        };
    }

    /** Returns whether a match may begin with a character. */
    default boolean canBeginWith(int code) {
        return switch (this) {
            case Repeat repeat -> repeat.set().has(code);
            case Sequence sequence -> {
                for (Regex part : sequence.parts()) {
                    if (part.canBeginWith(code)) {
                        yield true;
                    }
                    if (!part.canBeEmpty()) {
                        yield false;
                    }
                }
                yield false;
            }
            case Choice choice -> choice.branches().stream().anyMatch(branch -> branch.canBeginWith(code));
            case LookAhead _ -> false;
        };
    }

    /**
     * Returns whether no match has the place inside it if a character comes after one of another kind, and no match before
     * that place depends on whether more text follows.
     */
    default boolean bearsCutBefore(char after, IntPredicate before) {
        Seam seam = Seam.of(this, after, before);
        return !seam.crosses() && !seam.looksBeyond();
    }

    /** Returns whether, in addition, a match begins at every such place. */
    default boolean cutsBefore(char after, IntPredicate before) {
        return bearsCutBefore(after, before) && alwaysMatches(after);
    }

    /** Returns whether there is a match at every occurrence of a character, whatever comes after it. */
    private boolean alwaysMatches(char code) {
        return switch (this) {
            case Repeat repeat -> repeat.least() <= 1 && repeat.set().has(code);
            case Choice choice -> choice.branches().stream().anyMatch(branch -> branch.alwaysMatches(code));
            case Sequence sequence -> sequence.parts().size() == 1 && sequence.parts().getFirst().alwaysMatches(code);
            case LookAhead _ -> false;
        };
    }

    /**
     * The possible matches around a place between a character of one kind and a certain one; true if it is not known.
     *
     * @param begins a match may begin after the place
     * @param ends a match may end before it
     * @param isEmpty a match may be empty
     * @param crosses a match may have the place inside it
     * @param looksBeyond a match may depend on whether the text ends at the place
     */
    record Seam(boolean begins, boolean ends, boolean isEmpty, boolean crosses, boolean looksBeyond) {
        private static final Seam NOTHING = new Seam(false, false, true, false, false);

        static Seam of(Regex regex, char after, IntPredicate before) {
            return switch (regex) {
                case Repeat repeat -> {
                    boolean begins = repeat.set().has(after);
                    boolean ends = repeat.set().hasAny(before);
                    yield new Seam(begins, ends, repeat.least() == 0, repeat.most() > 1 && begins && ends, false);
                }
                case Sequence sequence ->
                    sequence.parts().stream().map(part -> of(part, after, before)).reduce(NOTHING, Seam::then);
                case Choice choice -> choice.branches().stream().map(branch -> of(branch, after, before))
                        .reduce(Seam::or).orElse(NOTHING);
                // At the end of the text a single character fails as at one outside its set.
                case LookAhead look -> new Seam(false, false, true, false, !(look.negative()
                        && look.what() instanceof Repeat one && one.least() == 1 && !one.set().has(after)));
            };
        }

        private Seam then(Seam next) {
            return new Seam(begins || isEmpty && next.begins, next.ends || next.isEmpty && ends,
                    isEmpty && next.isEmpty, crosses || next.crosses || ends && next.begins,
                    looksBeyond || next.looksBeyond);
        }

        private Seam or(Seam other) {
            return new Seam(begins || other.begins, ends || other.ends, isEmpty || other.isEmpty,
                    crosses || other.crosses, looksBeyond || other.looksBeyond);
        }
    }
}
