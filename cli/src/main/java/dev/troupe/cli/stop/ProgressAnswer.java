package dev.troupe.cli.stop;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The answer of a launched node to its launcher, as a line on standard output; the question is a line on standard input.
 *
 * @param isUp whether the node has started, and waits for the others or takes part in the run
 * @param stepsDone the committed steps that the node knows of; empty if it does not know of a run that has begun
 */
public record ProgressAnswer(long question, boolean isUp, OptionalLong stepsDone) {
    private static final String UP = "up";
    private static final Pattern LINE = Pattern.compile("troupe-progress (\\d{1,18})(?: (" + UP + "|\\d{1,18}))?");
    private static final Pattern QUESTION_LINE = Pattern.compile("progress (\\d{1,18})( others-start)?");

    /**
     * A question of a launcher.
     *
     * @param areOthersStarting whether another process of the launcher still starts
     */
    record Question(long number, boolean areOthersStarting) {
        /** Returns the question of a line; empty if the line is not a question. */
        static Optional<Question> of(String line) {
            Matcher question = QUESTION_LINE.matcher(line);
            return question.matches()
                    ? Optional.of(new Question(Long.parseLong(question.group(1)), question.group(2) != null))
                    : Optional.empty();
        }
    }

    public static String ask(long question, boolean areOthersStarting) {
        return "progress " + question + (areOthersStarting ? " others-start" : "");
    }

    /** Returns the answer of a line; empty if the line is not an answer. */
    public static Optional<ProgressAnswer> of(String line) {
        Matcher answer = LINE.matcher(line);
        if (!answer.matches()) {
            return Optional.empty();
        }
        String state = answer.group(2);
        return Optional.of(new ProgressAnswer(Long.parseLong(answer.group(1)), state != null,
                state == null || state.equals(UP) ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(state))));
    }

    String line() {
        String state = stepsDone.isPresent() ? " " + stepsDone.getAsLong() : isUp ? " " + UP : "";
        return "troupe-progress " + question + state;
    }
}
