package dev.troupe.tokenizer.huggingface;

import dev.troupe.tokenizer.file.FilePart;

/**
 * A backtracking matcher of an expression: a branch is taken if the rest of the expression matches after it, and a
 * repetition gives back characters that the rest needs. Immutable; any thread may use it.
 */
final class RegexMatcher {
    private final State begin;
    private final FilePart source;

    /**
     * @param source the part of the file that has the expression
     */
    RegexMatcher(Regex regex, FilePart source) {
        this.begin = state(regex, new Accept());
        this.source = source;
    }

    /** A receiver of the parts of a text, in its order, none empty. */
    interface Parts {
        void take(int from, int to, boolean matched);
    }

    /** Divides a text into the matches and the parts between them. */
    void split(char[] text, int from, int to, Steps steps, Parts parts) {
        int gap = from;
        int at = from;
        while (at < to) {
            steps.by(source);
            int end = begin.match(text, at, to, steps);
            if (end < 0) {
                at += Character.charCount(CodeSet.at(text, at, to));
                continue;
            }
            if (gap < at) {
                parts.take(gap, at, false);
            }
            parts.take(at, end, true);
            at = end;
            gap = end;
        }
        if (gap < to) {
            parts.take(gap, to, false);
        }
    }

    private static State state(Regex regex, State next) {
        return switch (regex) {
            case Regex.Repeat repeat -> repeat.least() == 1 && repeat.most() == 1
                    ? new One(repeat.set(), next)
                    : new Many(repeat.set(), repeat.least(), repeat.most(), next);
            case Regex.Sequence sequence -> {
                State state = next;
                for (Regex part : sequence.parts().reversed()) {
                    state = state(part, state);
                }
                yield state;
            }
            case Regex.Choice choice -> {
                State[] branches = choice.branches().stream().map(branch -> state(branch, next)).toArray(State[]::new);
                yield new Branches(branches, choice);
            }
            case Regex.LookAhead look -> new Look(state(look.what(), new Accept()), look.negative(), next);
        };
    }

    /** A match from a position on: returns the end of the whole match, or -1. */
    private sealed interface State {
        int match(char[] text, int at, int end, Steps steps);
    }

    private record Accept() implements State {
        @Override
        public int match(char[] text, int at, int end, Steps steps) {
            return at;
        }
    }

    private record One(CodeSet set, State next) implements State {
        @Override
        public int match(char[] text, int at, int end, Steps steps) {
            steps.take(1);
            if (at == end) {
                return -1;
            }
            int code = CodeSet.at(text, at, end);
            return set.has(code) ? next.match(text, at + Character.charCount(code), end, steps) : -1;
        }
    }

    private record Many(CodeSet set, int least, int most, State next) implements State {
        @Override
        public int match(char[] text, int at, int end, Steps steps) {
            int count = 0;
            int stop = at;
            while (stop < end && count < most) {
                int code = CodeSet.at(text, stop, end);
                if (!set.has(code)) {
                    break;
                }
                stop += Character.charCount(code);
                count++;
            }
            steps.take(stop - at + 1);
            for (; count >= least; count--) {
                int found = next.match(text, stop, end, steps);
                if (found >= 0) {
                    return found;
                }
                if (count == 0) {
                    return -1;
                }
                stop -= stop - at > 1 && Character.isSurrogatePair(text[stop - 2], text[stop - 1]) ? 2 : 1;
            }
            return -1;
        }
    }

    private static final class Branches implements State {
        private static final int ASCII = 128;

        private final State[] branches;
        /** For each ASCII character the bits of the branches that may begin with it; at the end, of all branches. */
        private final long[] byFirst = new long[ASCII + 1];

        Branches(State[] branches, Regex.Choice choice) {
            this.branches = branches;
            for (int branch = 0; branch < branches.length; branch++) {
                Regex regex = choice.branches().get(branch);
                for (int code = 0; code < ASCII; code++) {
                    // From the 64th branch on, a bit is for several.
                    byFirst[code] |= regex.canBeEmpty() || regex.canBeginWith(code) ? 1L << branch : 0;
                }
                byFirst[ASCII] |= 1L << branch;
            }
        }

        @Override
        public int match(char[] text, int at, int end, Steps steps) {
            steps.take(1);
            long likely = byFirst[at < end && text[at] < ASCII ? text[at] : ASCII];
            for (int branch = 0; branch < branches.length; branch++) {
                if ((likely >>> branch & 1) != 0) {
                    int found = branches[branch].match(text, at, end, steps);
                    if (found >= 0) {
                        return found;
                    }
                }
            }
            return -1;
        }
    }

    private record Look(State what, boolean negative, State next) implements State {
        @Override
        public int match(char[] text, int at, int end, Steps steps) {
            return what.match(text, at, end, steps) >= 0 == negative ? -1 : next.match(text, at, end, steps);
        }
    }
}
