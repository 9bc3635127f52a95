package dev.troupe.cli.stop;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The answer of a launched node to its launcher, as a line on standard output; the question is a line on standard input.
 *
 * @param question
 *            the number of the question
 * @param stepsDone
 *            the committed steps that the node knows of; empty where the node has not joined the run
 */
public record ProgressAnswer(long question, OptionalLong stepsDone) {
    private static final String QUESTION = "progress ";
    private static final Pattern LINE = Pattern.compile("troupe-progress (\\d{1,18})(?: (\\d{1,18}))?");
    private static final Pattern QUESTION_LINE = Pattern.compile(QUESTION + "(\\d{1,18})");

    /** Returns the line of a question. */
    public static String ask(long question) {
        return QUESTION + question;
    }

    /** Returns the number of the question of a line; empty where the line is none. */
    static OptionalLong asked(String line) {
        Matcher question = QUESTION_LINE.matcher(line);
        return question.matches() ? OptionalLong.of(Long.parseLong(question.group(1))) : OptionalLong.empty();
    }

    /** Returns the answer of a line; empty where the line is none. */
    public static Optional<ProgressAnswer> of(String line) {
        Matcher answer = LINE.matcher(line);
        return answer.matches()
                ? Optional.of(new ProgressAnswer(Long.parseLong(answer.group(1)), answer.group(2) == null
                        ? OptionalLong.empty()
                        : OptionalLong.of(Long.parseLong(answer.group(2)))))
                : Optional.empty();
    }

    String line() {
        return "troupe-progress " + question + (stepsDone.isPresent() ? " " + stepsDone.getAsLong() : "");
    }
}
