package dev.troupe.bench.pairs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.bench.MeasuredRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The steps of a run of {@code ./troupe} in some tree, from its {@code metrics.jsonl}; its processor time is not known. */
final class CommandRun {
    private static final ObjectMapper JSON = new ObjectMapper();

    private CommandRun() {
    }

    /**
     * Trains in a process of its own.
     *
     * @param tree the root of a checkout with a built launcher
     * @param settings of {@code troupe train -s}
     * @param warmupSteps steps before the first that counts
     * @throws IllegalStateException if the run fails, with its last words
     */
    static TimedSteps of(Path tree, List<String> settings, int warmupSteps) throws IOException, InterruptedException {
        return of(tree, List.of("train"), settings, warmupSteps);
    }

    /**
     * Trains on nodes of this machine, each a JVM of its own with one rank.
     *
     * @param tree the root of a checkout with a built launcher
     * @param settings of {@code troupe launch -s}
     * @param warmupSteps steps before the first that counts
     * @throws IllegalStateException if the run fails, with its last words
     */
    static TimedSteps launched(Path tree, int ranks, List<String> settings, int warmupSteps)
            throws IOException, InterruptedException {
        Path cluster = Files.createTempFile("troupe-bench", ".conf");
        try {
            String number = Integer.toString(ranks);
            Process writer = new ProcessBuilder(tree.resolve("bench/cluster/cluster-file").toString(), number, number)
                    .redirectOutput(cluster.toFile()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            if (writer.waitFor() != 0) {
                throw new IllegalStateException("bench/cluster/cluster-file must write a file for " + ranks
                        + " nodes, but ended with exit code " + writer.exitValue());
            }
            return of(tree, List.of("launch", cluster.toString()), settings, warmupSteps);
        } finally {
            Files.delete(cluster);
        }
    }

    private static TimedSteps of(Path tree, List<String> subcommand, List<String> settings, int warmupSteps)
            throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("troupe-bench");
        try {
            Path run = directory.resolve("run");
            Path log = directory.resolve("log");
            List<String> command = new ArrayList<>(List.of(tree.resolve("troupe").toString()));
            command.addAll(subcommand);
            command.addAll(List.of("--out", run.toString()));
            settings.forEach(setting -> command.addAll(List.of("-s", setting)));
            ProcessBuilder process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
            process.environment().remove("TROUPE_MAIN"); // by which the launcher started this benchmark
            int status = process.start().waitFor();
            if (status != 0) {
                throw new IllegalStateException("a run ended with exit code " + status + ": "
                        + String.join(" ", command) + "\n" + Files.readString(log, StandardCharsets.UTF_8));
            }
            return read(run.resolve("metrics.jsonl"), warmupSteps);
        } finally {
            MeasuredRun.delete(directory);
        }
    }

    /** Reads the lines of steps and ignores others. */
    static TimedSteps read(Path metrics, int warmupSteps) throws IOException {
        List<Double> seconds = new ArrayList<>();
        List<Double> losses = new ArrayList<>();
        for (String line : Files.readAllLines(metrics)) {
            JsonNode step = JSON.readTree(line);
            if (step.has("step_seconds")) {
                seconds.add(step.get("step_seconds").doubleValue());
                losses.add(step.get("loss").doubleValue());
            }
        }
        if (seconds.size() <= warmupSteps) {
            throw new IllegalStateException("more than " + warmupSteps + " steps are expected in " + metrics
                    + ", but it has " + seconds.size());
        }
        return new TimedSteps(List.copyOf(seconds.subList(warmupSteps, seconds.size())), List.copyOf(losses), 0);
    }
}
