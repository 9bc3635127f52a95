package dev.troupe.tokenizer.huggingface;

import dev.troupe.tokenizer.file.FilePart;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/** A step of splitting a text into words. Immutable; any thread may use it. */
sealed interface PreTokenizer {
    /** Published tokenizers have up to six. */
    int MOST = 16;

    /** A receiver of the parts of a text, in its order, none empty. */
    interface Parts {
        void take(char[] text, int from, int to);
    }

    /** Divides a part of a text, which is not empty. */
    void split(char[] text, int from, int to, Steps steps, Parts next);

    /** Returns whether a part always begins at this character if it follows a character of some kind. */
    default boolean cutsBefore(char after, IntPredicate before) {
        return false;
    }

    /** Returns whether a cut there in advance never changes the result, if the place is between two parts in the end. */
    boolean bearsCutBefore(char after, IntPredicate before);

    /** A split by an expression; matches and the rest are parts, or are left out. */
    record Split(Regex regex, RegexMatcher matcher, boolean keepsMatches, boolean keepsRest) implements PreTokenizer {
        Split(Regex regex, FilePart source, boolean keepsMatches, boolean keepsRest) {
            this(regex, new RegexMatcher(regex, source), keepsMatches, keepsRest);
        }

        @Override
        public void split(char[] text, int from, int to, Steps steps, Parts next) {
            matcher.split(text, from, to, steps, (begin, end, matched) -> {
                if (matched ? keepsMatches : keepsRest) {
                    next.take(text, begin, end);
                }
            });
        }

        @Override
        public boolean cutsBefore(char after, IntPredicate before) {
            return regex.cutsBefore(after, before);
        }

        @Override
        public boolean bearsCutBefore(char after, IntPredicate before) {
            return regex.bearsCutBefore(after, before);
        }
    }

    /** A split of numbers from the rest: each digit by itself, or each number whole. */
    record Digits(boolean isEachAlone) implements PreTokenizer {
        @Override
        public void split(char[] text, int from, int to, Steps steps, Parts next) {
            int begin = from;
            boolean wasNumber = false;
            for (int at = from; at < to;) {
                int code = CodeSet.at(text, at, to);
                boolean isNumber = CodeSet.isNumber(code);
                if (at > begin && (isNumber != wasNumber || isNumber && isEachAlone)) {
                    next.take(text, begin, at);
                    begin = at;
                }
                wasNumber = isNumber;
                at += Character.charCount(code);
            }
            next.take(text, begin, to);
        }

        @Override
        public boolean bearsCutBefore(char after, IntPredicate before) {
            return !CodeSet.isNumber(after);
        }
    }

    /** The insertion of a space before a text that begins with none. */
    record PrefixSpace() implements PreTokenizer {
        @Override
        public void split(char[] text, int from, int to, Steps steps, Parts next) {
            if (text[from] == ' ') {
                next.take(text, from, to);
                return;
            }
            char[] longer = new char[to - from + 1];
            longer[0] = ' ';
            System.arraycopy(text, from, longer, 1, to - from);
            next.take(longer, 0, longer.length);
        }

        @Override
        public boolean bearsCutBefore(char after, IntPredicate before) {
            return after == ' ';
        }
    }

    /** Reads the part {@code pre_tokenizer} of a file: the steps, in their order. */
    static List<PreTokenizer> read(FilePart part) {
        if (part.isAbsent()) {
            throw part
                    .refusal("is not there; only byte-level tokenizers are supported, with ByteLevel as its last step");
        }
        List<FilePart> steps = new ArrayList<>();
        flatten(part, steps);
        if (steps.size() > MOST) {
            throw part.refusal("has " + steps.size() + " steps, more than " + MOST);
        }
        int characters = steps.stream().map(step -> step.at("pattern")).mapToInt(PreTokenizer::length).sum();
        if (characters > RegexReader.LONGEST) {
            throw part.refusal("has expressions of " + characters + " characters in all, more than "
                    + RegexReader.LONGEST);
        }
        List<PreTokenizer> read = new ArrayList<>();
        for (FilePart step : steps) {
            boolean isLast = step == steps.getLast();
            if (step.type().equals("ByteLevel") != isLast) {
                throw part.refusal("must have ByteLevel as its last step, and nowhere else");
            }
            switch (step.type()) {
                case "Split" -> read.add(split(step));
                case "Digits" -> read.add(new Digits(step.flag("individual_digits", false)));
                default -> byteLevel(step, read);
            }
        }
        return read;
    }

    private static int length(FilePart pattern) {
        return pattern.at("Regex").node().asText().length() + pattern.at("String").node().asText().length();
    }

    private static void flatten(FilePart part, List<FilePart> steps) {
        part.requireType("ByteLevel", "Digits", "Sequence", "Split");
        if (part.type().equals("Sequence")) {
            part.at("pretokenizers").elements().forEach(inner -> flatten(inner, steps));
        } else {
            steps.add(part);
        }
    }

    private static void byteLevel(FilePart part, List<PreTokenizer> steps) {
        if (part.flag("add_prefix_space", true)) {
            steps.add(new PrefixSpace());
        }
        if (part.flag("use_regex", true)) {
            steps.add(new Split(Published.WORDS_OF_GPT2, part, true, true));
        }
    }

    private static Split split(FilePart part) {
        FilePart pattern = part.at("pattern");
        FilePart regex = pattern.at("Regex");
        boolean isInverted = part.flag("invert", false);
        FilePart behavior = part.at("behavior");
        return switch (behavior.text()) {
            case "Isolated" -> new Split(regex(pattern, regex), pattern, true, true);
            case "Removed" -> new Split(regex(pattern, regex), pattern, isInverted, !isInverted);
            default ->
                throw behavior.refusal("must be Isolated or Removed, which is all that is supported, but found \""
                        + behavior.text() + "\"");
        };
    }

    private static Regex regex(FilePart pattern, FilePart regex) {
        if (regex.isAbsent()) {
            FilePart literal = pattern.at("String");
            try {
                return RegexReader.literal(literal.text());
            } catch (RegexReader.Refusal unknown) {
                throw literal.refusal("is a text that is not supported: " + unknown.getMessage());
            }
        }
        try {
            return RegexReader.read(regex.text());
        } catch (RegexReader.Refusal unknown) {
            throw regex.refusal("is an expression that is not supported: " + unknown.getMessage());
        }
    }

    /** ByteLevel's own expression. */
    final class Published {
        static final Regex WORDS_OF_GPT2 = words();

        private Published() {
        }

        private static Regex words() {
            try {
                return RegexReader
                        .read("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");
            } catch (RegexReader.Refusal impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }
}
