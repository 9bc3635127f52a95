package dev.troupe.bench.collective;

import dev.troupe.bench.Samples;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The processes of one measurement; the first prints a line for each result. */
final class ProcessLines {
    private static final Pattern MEASURED = Pattern.compile("measured (\\S+) (\\d+) (\\d+) (\\S+)");

    private final List<List<String>> commands;

    ProcessLines(List<List<String>> commands) {
        this.commands = commands;
    }

    /**
     * Runs the processes to their end and adds their measures.
     *
     * @throws IllegalStateException if a process fails
     */
    void read(Map<GroupTimes.Case, Samples> seconds) throws IOException, InterruptedException {
        List<Process> all = new ArrayList<>();
        try {
            for (List<String> command : commands) {
                all.add(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
            }
            try (BufferedReader output = all.getFirst().inputReader()) {
                output.lines().map(MEASURED::matcher).filter(Matcher::matches)
                        .forEach(line -> seconds.computeIfAbsent(new GroupTimes.Case(line.group(1),
                                Integer.parseInt(line.group(2)), Integer.parseInt(line.group(3))), _ -> new Samples())
                                .add(Double.parseDouble(line.group(4))));
            }
            for (Process each : all) {
                if (each.waitFor() != 0) {
                    throw new IllegalStateException("a process that measures ended with " + each.exitValue() + ": "
                            + String.join(" ", commands.get(all.indexOf(each))));
                }
            }
        } finally {
            all.forEach(Process::destroy);
        }
    }
}
