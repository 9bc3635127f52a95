package dev.troupe.bench.pairs;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The figures of a peer, which trains in its own processes and prints a line a step.
 *
 * @param library its library of matrix products, in its own words; empty: unknown
 */
record PeerRun(TimedSteps steps, String library) {
    private static final Pattern STEP = Pattern.compile("step \\d+ seconds (\\S+) loss (\\S+)");
    private static final Pattern PROCESSOR = Pattern.compile("processor seconds (\\S+)");
    private static final Pattern LIBRARY = Pattern.compile("library (.+)");

    /**
     * Returns the version of PyTorch that a Python has.
     *
     * @param python a command
     * @return empty if there is no such command or it cannot import PyTorch
     */
    static Optional<String> torchVersion(String python) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(python, "-c", "import torch; print(torch.__version__)")
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            try (BufferedReader output = process.inputReader()) {
                String version = output.readLine();
                return process.waitFor() == 0 ? Optional.of(version) : Optional.empty();
            }
        } catch (IOException noSuchCommand) {
            return Optional.empty();
        }
    }

    /**
     * Trains.
     *
     * @param environment variables in addition to the variables of this process
     * @param tokens a file with a token in each byte
     * @param warmupSteps steps before the first that counts
     * @throws IllegalStateException if the script fails or prints fewer steps; its own messages go to the standard
     *     error
     */
    static PeerRun of(List<String> command, Map<String, String> environment, PeerCase training, Path tokens,
            int warmupSteps, int steps)
            throws InterruptedException, IOException {
        List<String> complete = new ArrayList<>(command);
        complete.addAll(training.peerArguments());
        complete.addAll(List.of("--tokens", tokens.toString(), "--warmup", Integer.toString(warmupSteps), "--steps",
                Integer.toString(steps)));
        ProcessBuilder builder = new ProcessBuilder(complete).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        Process process = builder.start();
        try (BufferedReader output = process.inputReader()) {
            List<Double> seconds = new ArrayList<>();
            List<Double> losses = new ArrayList<>();
            List<String> lines = output.lines().toList();
            matches(STEP, lines).forEach(step -> {
                seconds.add(Double.valueOf(step.group(1)));
                losses.add(Double.valueOf(step.group(2)));
            });
            double processorSeconds = matches(PROCESSOR, lines).mapToDouble(rank -> Double.parseDouble(rank.group(1)))
                    .sum();
            String library = matches(LIBRARY, lines).map(line -> line.group(1)).findFirst().orElse("");
            int status = process.waitFor();
            if (status != 0 || seconds.size() != warmupSteps + steps) {
                throw new IllegalStateException("the peer must print " + (warmupSteps + steps)
                        + " steps and end with status 0, but it printed " + seconds.size() + " and ended with " + status
                        + ": " + String.join(" ", complete) + "\n" + String.join("\n", lines));
            }
            return new PeerRun(new TimedSteps(List.copyOf(seconds.subList(warmupSteps, seconds.size())),
                    List.copyOf(losses), processorSeconds), library);
        } finally {
            process.destroy();
        }
    }

    private static Stream<Matcher> matches(Pattern pattern, List<String> lines) {
        return lines.stream().map(pattern::matcher).filter(Matcher::matches);
    }
}
