package dev.troupe.config;

import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.value.Sources;
import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The reader of runs: settings over a file over the defaults, checked as a whole. */
public final class RunSpecReader {
    /** A node with a value for every key, so that each is read. */
    private static final String NODE = "cluster.nodes=[{ name = a, host = a, control-port = 1, data-port = 2, engine = auto,"
            + " threads = 0, device = round-robin, emulated-speed = 1, ranks = [0, 1, 2, 3] }]";

    private RunSpecReader() {
    }

    /**
     * Reads a run.
     *
     * @param file a HOCON file with everything under {@code troupe}; empty: defaults and settings only
     * @param settings {@code key=value}, without {@code troupe.}; they win over the file, and the last of one key over
     *     the others
     * @return the run, with relative paths made absolute from the working directory
     * @throws ConfigException if any value is wrong, with a problem for each; a caller shows the message and starts
     *     nothing
     */
    public static RunSpec read(Optional<Path> file, List<String> settings) {
        List<Problem> problems = new ArrayList<>();
        return new RunSpec(new Values(Sources.read(file, settings, problems), problems), problems);
    }

    static RunSpec read(Sources sources) {
        List<Problem> problems = new ArrayList<>();
        return new RunSpec(new Values(sources, problems), problems);
    }

    /** Returns the values that each key accepts; the keys of a node are under {@code cluster.nodes[0]}. */
    static Map<String, Values.Accepted> accepted() {
        List<Problem> problems = new ArrayList<>();
        Values values = new Values(Sources.read(Optional.empty(), List.of(NODE), problems), problems);
        new RunSpec(values, problems);
        return values.accepted();
    }
}
