package dev.troupe.config.problem;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The refusal of a configuration. The message has a line for each of the first problems, and one with the number of the
 * others; a caller shows it and starts nothing.
 */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    /** What a person mends at a time; a file that a program wrote may have thousands. */
    private static final int MOST_LINES = 30;

    private final transient List<Problem> problems;

    /**
     * Creates the refusal.
     *
     * @param problems all problems, at least one
     */
    public ConfigException(List<Problem> problems) {
        super(message(problems));
        this.problems = List.copyOf(problems);
    }

    /** Returns the problems, in the order in which they were found. */
    public List<Problem> problems() {
        return problems;
    }

    private static String message(List<Problem> problems) {
        if (problems.isEmpty()) {
            throw new IllegalArgumentException("a refusal needs a problem");
        }
        int more = problems.size() - MOST_LINES;
        return problems.stream().limit(MOST_LINES).map(Problem::sentence).collect(Collectors.joining("\n"))
                + (more > 0 ? "\n... and " + more + (more == 1 ? " more problem." : " more problems.") : "");
    }
}
