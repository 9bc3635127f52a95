package dev.troupe.config.problem;

import java.util.List;
import java.util.stream.Collectors;

/** The refusal of a configuration. The message has one line for every problem; a caller shows it and starts nothing. */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

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
        return problems.stream().map(Problem::sentence).collect(Collectors.joining("\n"));
    }
}
